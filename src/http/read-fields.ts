import type { z } from 'zod';
import { PawlError } from '../errors.js';

/** Problems beyond these say little more, and an error has to stay readable. */
const MOST_ISSUES = 5;

/** A part of a request as its schema reads it. */
export function readFields<T extends z.ZodType>(
  schema: T,
  value: unknown,
  part: 'path' | 'query' | 'body',
): z.output<T> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const issues = read.error.issues.slice(0, MOST_ISSUES).map(({ path, message }) => ({
    field: [part, ...path.map(String)].join('.').slice(0, 200),
    message: message.slice(0, 200),
  }));
  throw new PawlError('INVALID_REQUEST', {
    detail: issues.map(({ field, message }) => `${field}: ${message}`).join('; '),
    details: { field: issues[0]?.field ?? part, issues },
  });
}
