const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long something takes: two units at most, as exact as somebody reads it. */
export function spanInWords(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9.95 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (Math.round(ms / SECOND) < 60) return `${Math.round(ms / SECOND)} s`;
  if (Math.round(ms / SECOND) < 3_600) return two(Math.round(ms / SECOND), 60, 'min', 's');
  if (Math.round(ms / MINUTE) < 1_440) return two(Math.round(ms / MINUTE), 60, 'h', 'min');
  return two(Math.round(ms / HOUR), 24, 'd', 'h');
}

/** When something was or will be, seen from now: one unit, so that it can be read at a glance. */
export function ageInWords(at: number, now: number): string {
  const ms = Math.abs(now - at);
  // Both clocks are right to the second only.
  if (ms < 2 * SECOND) return 'now';
  const span = roughly(ms);
  return at <= now ? `${span} ago` : `in ${span}`;
}

/** As the log of a server would have it, in the reader's own time zone. */
export function clockTime(at: number): string {
  const time = new Date(at);
  const day = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  return `${day} ${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
}

function roughly(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

function two(count: number, size: number, big: string, small: string): string {
  const rest = count % size;
  const whole = `${Math.floor(count / size)} ${big}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

function pad(value: number): string {
  return `${value}`.padStart(2, '0');
}
