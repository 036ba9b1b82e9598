export type NotFinite = { readonly path: string; readonly value: number };

/** The first number in a value that JSON cannot hold, and would write as null; null if there is none. `value` has no cycles. */
export function notFinite(value: unknown): NotFinite | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path: '', value };
  if (typeof value !== 'object' || value === null) return null;
  if (hasOwnText(value)) return notFinite(value.toJSON(''));
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = notFinite(value[at]);
      if (found !== null) return { ...found, path: joined(`[${at}]`, found.path) };
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    const found = notFinite((value as Readonly<Record<string, unknown>>)[key]);
    if (found !== null) return { ...found, path: joined(key, found.path) };
  }
  return null;
}

/** What is written as JSON of such a value is for itself to say. */
function hasOwnText(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function joined(first: string, rest: string): string {
  return rest === '' || rest.startsWith('[') ? `${first}${rest}` : `${first}.${rest}`;
}
