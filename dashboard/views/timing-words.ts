import type { Schedule } from '../api/operations.js';
import { clockTime, spanInWords } from '../time-in-words.js';

/** When a schedule fires, in words. */
export function timingOf(schedule: Schedule): string {
  const { schedule_type: type, at, every_ms: everyMs, cron, daily_at: daily, time_zone: zone } = schedule;
  const where = zone === undefined ? '' : ` ${zone}`;
  switch (type) {
    case 'at':
      return at === undefined ? 'once' : `once, ${clockTime(Date.parse(at))}`;
    case 'every':
      return everyMs === undefined ? 'again and again' : `every ${spanInWords(everyMs)}`;
    case 'cron':
      return `cron ${cron ?? ''}${where}`;
    case 'daily':
      return `daily ${daily ?? ''}${where}`;
  }
}
