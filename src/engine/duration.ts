import { PawlError } from '../errors.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds, or a number with its unit: `250`, `'250ms'`, `'30s'`, `'5m'`, `'1h'`, `'7d'`, `'2w'`. */
export type Duration = number | `${number}${keyof typeof UNITS}`;

export const NO_DURATION = "no duration such as 250, '30s', '5m', '1h' or '7d'";

export function isDuration(value: unknown): value is Duration {
  return msOf(value) >= 0;
}

/** `what` names the option in the error. */
export function toMs(duration: Duration, what: string): number {
  const ms = msOf(duration);
  if (ms >= 0) return Math.round(ms);
  throw new PawlError('INVALID_OPTION', {
    detail: `${what} is ${JSON.stringify(duration)}, which is ${NO_DURATION}`,
    details: { option: what },
  });
}

/** Not a number for what is none. */
function msOf(value: unknown): number {
  if (typeof value === 'number') return Number.isFinite(value) ? value : Number.NaN;
  const parts = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(String(value));
  return parts ? Number(parts[1]) * UNITS[parts[2] as keyof typeof UNITS] : Number.NaN;
}
