import type { JsonText } from './payload.js';

/** The one spelling of a JSON value: object keys sorted by code unit, no white space. */
export function canonicalJson(text: JsonText): JsonText {
  return write(JSON.parse(text));
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const record = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(record)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${write(record[key])}`);
  return `{${members.join(',')}}`;
}
