/** Reads a value as what it should be. Throws WrongShape, with the place, if it is not. */
export type Shape<T> = (value: unknown, at: string) => T;
export type Of<S> = S extends Shape<infer T> ? T : never;

/** The server answered with something that this page does not know: most likely they are of different versions. */
export class WrongShape extends Error {
  override readonly name = 'WrongShape';

  constructor(at: string, wanted: string) {
    super(`the answer of the server has no ${wanted} at ${at}`);
  }
}

export const text: Shape<string> = (value, at) => {
  if (typeof value === 'string') return value;
  throw new WrongShape(at, 'text');
};

export const number: Shape<number> = (value, at) => {
  if (typeof value === 'number') return value;
  throw new WrongShape(at, 'number');
};

export const flag: Shape<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value;
  throw new WrongShape(at, 'yes or no');
};

/** Whatever it is: shown, never judged. */
export const anything: Shape<unknown> = (value) => value;

export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return (value, at) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw new WrongShape(at, `one of ${words.join(', ')}`);
  };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, at) => (value === null ? null : shape(value, at));
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, at) => (value === undefined ? undefined : shape(value, at));
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw new WrongShape(at, 'list');
    return value.map((one, index) => shape(one, `${at}[${index}]`));
  };
}

export function object<M extends Readonly<Record<string, Shape<unknown>>>>(
  members: M,
): Shape<{ readonly [K in keyof M]: Of<M[K]> }> {
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new WrongShape(at, 'object');
    }
    const found = value as Readonly<Record<string, unknown>>;
    const read = Object.entries(members).map(([name, shape]) => [name, shape(found[name], `${at}.${name}`)]);
    return Object.fromEntries(read) as { readonly [K in keyof M]: Of<M[K]> };
  };
}
