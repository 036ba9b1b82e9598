import { ERASED_PREFIX, type Timestamp } from './payload.js';

/** Takes a value of unknown origin for a T, or throws a `Misfit`. */
export type Read<T> = (value: unknown) => T;

/** A T whose fields nobody has looked at. */
export type Untrusted<T> = { readonly [K in keyof T]?: unknown };

/** The path of what does not fit, from the value that was read; empty for that value itself. */
export class Misfit extends Error {
  constructor(readonly path: string) {
    super(path);
  }
}

/** Reading runs no code but the value's own accessors, so whatever was thrown meanwhile is the value's fault. */
export function pathOf(thrown: unknown): string {
  return thrown instanceof Misfit ? thrown.path : '';
}

const misfit = (): never => {
  throw new Misfit('');
};

export const flag: Read<boolean> = (value) => (value === true || value === false ? value : misfit());

/**
 * Text that any store can hold and any log can show: bounded, not empty, no control characters, sound Unicode.
 * A `pattern` of one's own must refuse no less.
 */
export function text(maxLength: number, pattern: RegExp = SHOWABLE): Read<string> {
  // The same worker, task and tenant come a thousand times in a row, and to compare is cheaper than to look.
  let known: string | null = null;
  return (value) => {
    if (value === known && known !== null) return known;
    if (typeof value !== 'string' || value.length > maxLength || !pattern.test(value)) return misfit();
    known = value;
    return value;
  };
}

/**
 * With the flag `u` a pair of surrogates is one character, so only those that stand alone are refused. A loop over the
 * characters is no faster with short names (bench/kernel.ts), and slower the longer they are.
 */
const SHOWABLE = /^[^\u0000-\u001f\u007f\ud800-\udfff]+$/u;

export function matching(pattern: RegExp): Read<string> {
  return (value) => (typeof value === 'string' && pattern.test(value) ? value : misfit());
}

export function integer({ min, max }: { min: number; max: number }): Read<number> {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : misfit();
}

export function oneOf<const T>(...allowed: readonly T[]): Read<T> {
  return (value) => (allowed.includes(value as T) ? (value as T) : misfit());
}

/** The latest time that any date library can show. */
const LATEST: Timestamp = 8.64e15;
/** The longest span of time, about 285 years. */
export const LONGEST_MS = 9e12;
/** The latest present: early enough for a backoff with its jitter to end before the latest time. */
export const LATEST_PRESENT: Timestamp = LATEST - 2 * LONGEST_MS;
export const timestamp = integer({ min: 0, max: LATEST });
export const present = integer({ min: 0, max: LATEST_PRESENT });
export const duration = ({ min }: { min: number }): Read<number> => integer({ min, max: LONGEST_MS });

/** JSON text is opaque, but it is one line and not the mark of an erased payload: the log relies on both. */
export const jsonText: Read<string> = (value) =>
  typeof value === 'string' &&
  value.length > 0 &&
  value[0] !== ERASED_PREFIX &&
  !value.includes('\n') &&
  !value.includes('\u0000')
    ? value
    : misfit();

export function nullable<T>(read: Read<T>): Read<T | null> {
  return (value) => (value === null ? null : read(value));
}

/** Null, or not there at all: in what is stored, nulls are left out. */
export function optional<T>(read: Read<T>): Read<T | null> {
  return (value) => (value === null || value === undefined ? null : read(value));
}

export function list<T>(read: Read<T>, { min, max }: { min: number; max: number }): Read<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return misfit();
    const items: T[] = [];
    for (let i = 0; i < value.length; i++) items.push(within(`[${i}]`, read, value[i]));
    return items;
  };
}

export function dictionary<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isRecord(value)) return misfit();
    return Object.fromEntries(Object.keys(value).map((key) => [key, within(key, read, value[key])] as const));
  };
}

/**
 * An object with exactly the fields that `build` takes over: an unknown one is a misfit too, so nothing unforeseen is
 * ever stored. What is built is a copy with its fields in one order, whoever made the original, and `build` names each
 * field outright: both are what makes reading fast (bench/kernel.ts).
 */
export function object<T extends object>(build: (fields: Untrusted<T>) => T): Read<T> {
  return (value) => {
    if (!isRecord(value)) return misfit();
    const built = buildFrom(value, build);
    return countFields(value) === countFields(built) ? built : withoutStrangers(value, built);
  };
}

/** The same where fields may be left out, so that as many fields need not be the same fields. */
export function sparse<T extends object>(build: (fields: Untrusted<T>) => T): Read<T> {
  return (value) => (isRecord(value) ? withoutStrangers(value, buildFrom(value, build)) : misfit());
}

function buildFrom<T extends object>(value: Record<string, unknown>, build: (fields: Untrusted<T>) => T): T {
  try {
    return build(value);
  } catch (thrown) {
    throw new Misfit(join(lastFieldRead(build, value), pathOf(thrown)));
  }
}

function withoutStrangers<T extends object>(value: Record<string, unknown>, built: T): T {
  for (const name in value) if (!Object.hasOwn(built, name)) throw new Misfit(name);
  return built;
}

/** One of several objects, told apart by the value of one field. Whether it is plain, the reader of its kind looks. */
export function variant<T extends { readonly [K in Tag]: string }, Tag extends string>(
  tag: Tag,
  readers: { readonly [V in T[Tag]]: Read<Extract<T, { readonly [K in Tag]: V }>> },
): Read<T> {
  const byTag = new Map<unknown, Read<T>>(Object.entries(readers as Record<string, Read<T>>));
  return (value) => {
    const read = byTag.get((value as Untrusted<T> | null | undefined)?.[tag]);
    if (read === undefined) throw new Misfit(isRecord(value) ? tag : '');
    return read(value);
  };
}

/** A plain object. One that inherits fields would lose them when it is written. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function within<T>(name: string, read: Read<T>, value: unknown): T {
  try {
    return read(value);
  } catch (thrown) {
    throw new Misfit(join(name, pathOf(thrown)));
  }
}

function countFields(record: object): number {
  let count = 0;
  for (const _ in record) count += 1;
  return count;
}

/** Builds once more, watching: the field that was looked at last is the one that did not fit. */
function lastFieldRead<T>(build: (fields: Untrusted<T>) => T, value: Record<string, unknown>): string {
  let last = '';
  const watched = new Proxy(value, {
    get: (_, field) => {
      last = field as string;
      return value[last];
    },
  });
  try {
    build(watched);
  } catch {
    // As it did before: what is wanted is how far it came.
  }
  return last;
}

function join(parent: string, child: string): string {
  if (child === '') return parent;
  return child[0] === '[' ? parent + child : `${parent}.${child}`;
}
