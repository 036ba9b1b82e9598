import { PawlError } from '../errors.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds, or a number with its unit: `250`, `'250ms'`, `'30s'`, `'5m'`, `'1h'`, `'7d'`, `'2w'`. */
export type Duration = number | `${number}${keyof typeof UNITS}`;

/** `what` names the option in the error. */
export function toMs(duration: Duration, what: string): number {
  const ms = typeof duration === 'number' ? duration : parse(duration);
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new PawlError('INVALID_OPTION', {
    detail: `${what} is ${JSON.stringify(duration)}, which is no duration such as 250, '30s', '5m', '1h' or '7d'`,
    details: { option: what },
  });
}

function parse(text: unknown): number {
  const parts = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(String(text));
  return parts ? Number(parts[1]) * UNITS[parts[2] as keyof typeof UNITS] : Number.NaN;
}
