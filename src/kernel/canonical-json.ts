import type { JsonText } from './payload.js';

/** The one spelling of a JSON value: object keys sorted by code unit, no white space. */
export function canonicalJson(text: JsonText): JsonText {
  return write(JSON.parse(text));
}

function write(value: unknown): string {
  if (typeof value === 'number' || value === null) return `${value}`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return Array.isArray(value) ? writeList(value) : writeRecord(value as Readonly<Record<string, unknown>>);
}

function writeList(list: readonly unknown[]): string {
  let items = '';
  for (const item of list) items += items === '' ? write(item) : `,${write(item)}`;
  return `[${items}]`;
}

function writeRecord(record: Readonly<Record<string, unknown>>): string {
  let members = '';
  for (const key of Object.keys(record).toSorted()) {
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${write(record[key])}`;
  }
  return `{${members}}`;
}
