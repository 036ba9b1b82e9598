import { isDuration, NO_DURATION } from './duration.js';

/** What is wrong with a value, to stand behind "which is"; null if it will do, as what is not given does. */
export type Check = (value: unknown) => string | null;

const orNone =
  (fits: (value: unknown) => boolean, problem: string): Check =>
  (value) =>
    value === undefined || fits(value) ? null : problem;

/** Looked at where it is used, with a rule of its own. */
export const elsewhere: Check = () => null;
/** Also one that is empty. */
export const string = orNone((value) => typeof value === 'string', 'no text');
export const text = orNone((value) => typeof value === 'string' && value !== '', 'no text');
export const flag = orNone((value) => typeof value === 'boolean', 'neither true nor false');
export const func = orNone((value) => typeof value === 'function', 'no function');
export const object = orNone((value) => typeof value === 'object' && value !== null, 'no object');
export const duration = orNone(isDuration, NO_DURATION);

export function whole(least: number): Check {
  return orNone(
    (value) => Number.isSafeInteger(value) && (value as number) >= least,
    `no whole number from ${least} up`,
  );
}

export const above0 = orNone((value) => Number.isFinite(value) && (value as number) > 0, 'no number above 0');

export function oneOf(...allowed: readonly string[]): Check {
  return orNone((value) => allowed.includes(value as string), `none of ${allowed.join(', ')}`);
}

export function listOf(check: Check, what: string): Check {
  const fits = (item: unknown): boolean => item !== undefined && check(item) === null;
  return orNone((value) => Array.isArray(value) && value.every(fits), `no list of ${what}`);
}

export function orNull(check: Check): Check {
  return (value) => (value === null ? null : check(value));
}

/** Has to be there. */
export function required(check: Check): Check {
  return (value) => (value === undefined ? 'missing' : check(value));
}
