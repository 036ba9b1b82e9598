import { PawlError } from '../errors.js';

/** The latest time that a Date can hold, and that the kernel takes. */
const LATEST = 8.64e15;

/** Milliseconds since the Unix epoch. `what` names the time in the error. */
export function timeOf(at: Date | number, what: string): number {
  const time = typeof at === 'number' ? at : Number((at as Date | null)?.getTime?.());
  if (Number.isSafeInteger(time) && time >= 0 && time <= LATEST) return time;
  throw new PawlError('INVALID_OPTION', {
    detail: `${what} is ${String(at)}, which is no time: a Date, or whole milliseconds since 1970`,
    details: { option: what },
  });
}
