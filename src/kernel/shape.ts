import { ERASED_PREFIX, type Timestamp } from './payload.js';

/**
 * Looks at a value of unknown origin. Null: it fits. Otherwise the path, from that value on, of what does not;
 * empty for the value itself.
 */
export type Check = (value: unknown) => string | null;

/** One check for every field of T, none missing. */
export type Fields<T> = { readonly [K in keyof T]-?: Check };

const BAD = '';

/** A field that has been looked at already. */
export const known: Check = () => null;

export const flag: Check = (value) => (value === true || value === false ? null : BAD);

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** Text that any store can hold and any log can show: bounded, not empty, no control characters, sound Unicode. */
export function text(maxLength: number): Check {
  return (value) =>
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= maxLength &&
    !CONTROL_CHARACTER.test(value) &&
    value.isWellFormed()
      ? null
      : BAD;
}

export function matching(pattern: RegExp): Check {
  return (value) => (typeof value === 'string' && pattern.test(value) ? null : BAD);
}

export function integer({ min, max }: { min: number; max: number }): Check {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max ? null : BAD;
}

export function oneOf(...allowed: readonly unknown[]): Check {
  return (value) => (allowed.includes(value) ? null : BAD);
}

/** The latest time that any date library can show. */
const LATEST: Timestamp = 8.64e15;
/** The longest span of time, about 285 years. */
const LONGEST_MS = 9e12;
export const timestamp = integer({ min: 0, max: LATEST });
/** The present. Early enough for a backoff with its jitter to end before the latest time. */
export const present = integer({ min: 0, max: LATEST - 2 * LONGEST_MS });
export const duration = ({ min }: { min: number }): Check => integer({ min, max: LONGEST_MS });

/** JSON text is opaque, but it is one line and not the mark of an erased payload: the log relies on both. */
export const jsonText: Check = (value) =>
  typeof value === 'string' &&
  value.length > 0 &&
  value[0] !== ERASED_PREFIX &&
  !value.includes('\n') &&
  !value.includes('\u0000')
    ? null
    : BAD;

export function nullable(check: Check): Check {
  return (value) => (value === null ? null : check(value));
}

export function list(check: Check, { min, max }: { min: number; max: number }): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return BAD;
    for (let i = 0; i < value.length; i++) {
      const fault = check(value[i]);
      if (fault !== null) return join(`[${i}]`, fault);
    }
    return null;
  };
}

export function dictionary(check: Check): Check {
  return (value) => {
    if (!isRecord(value)) return BAD;
    for (const key of Object.keys(value)) {
      const fault = check(value[key]);
      if (fault !== null) return join(key, fault);
    }
    return null;
  };
}

/** An object with exactly these fields: an unknown one is a fault too, so nothing unforeseen is ever stored. */
export function object<T>(fields: Fields<T>): Check {
  const names = Object.keys(fields);
  const checks = Object.values(fields);
  return (value) => {
    if (!isRecord(value)) return BAD;
    let seen = 0;
    for (const name in value) {
      // Whoever writes the fields in the declared order spares a search.
      const at = names[seen] === name ? seen : names.indexOf(name);
      if (at < 0) return name;
      const fault = (checks[at] as Check)(value[name]);
      if (fault !== null) return join(name, fault);
      seen += 1;
    }
    return seen === names.length ? null : (names.find((name) => value[name] === undefined) as string);
  };
}

/** One of several objects, told apart by the value of one field. */
export function variant(tag: string, variants: Readonly<Record<string, Check>>): Check {
  const byTag = new Map(Object.entries(variants));
  return (value) => {
    if (!isRecord(value)) return BAD;
    const check = byTag.get(value[tag] as string);
    return check ? check(value) : tag;
  };
}

/** A plain object. One that inherits fields would lose them when it is written. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function join(parent: string, child: string): string {
  if (child === BAD) return parent;
  return child[0] === '[' ? parent + child : `${parent}.${child}`;
}
