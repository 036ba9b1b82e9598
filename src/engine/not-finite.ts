export type NotFinite = { readonly path: string; readonly value: number | 'an invalid date' };

/**
 * The first number or date in a value that JSON cannot hold, and would write as null; null if there is none. `value` has no
 * cycles. What is null by its own `toJSON` is meant to be, except for a date: it knows no other way to say that it is none.
 */
export function notFinite(value: unknown, key: string | number = ''): NotFinite | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path: '', value };
  if (typeof value !== 'object' || value === null) return null;
  if (!hasOwnText(value)) return notFiniteWithin(value);
  const told = value.toJSON(`${key}`);
  if (told === null && tagOf(value) === '[object Date]') return { path: '', value: 'an invalid date' };
  // Of what it has answered JSON does not ask that again.
  return typeof told === 'object' && told !== null ? notFiniteWithin(told) : notFinite(told);
}

function notFiniteWithin(value: object): NotFinite | null {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = notFinite(value[at], at);
      if (found !== null) return { ...found, path: joined(`[${at}]`, found.path) };
    }
    return null;
  }
  if (isBoxedNumber(value)) return notFinite(Number(value));
  for (const key of Object.keys(value)) {
    const found = notFinite((value as Readonly<Record<string, unknown>>)[key], key);
    if (found !== null) return { ...found, path: joined(key, found.path) };
  }
  return null;
}

/** What is written as JSON of such a value is for itself to say. */
function hasOwnText(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** Plain objects, which nearly all are, are told by a glance. */
function isBoxedNumber(value: object): boolean {
  return Object.getPrototypeOf(value) !== Object.prototype && tagOf(value) === '[object Number]';
}

/** What it was made as, also in another realm, where `instanceof` fails. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

function joined(first: string, rest: string): string {
  return rest === '' || rest.startsWith('[') ? `${first}${rest}` : `${first}.${rest}`;
}
