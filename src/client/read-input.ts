import { PawlError } from '../errors.js';
import { toJsonText } from '../engine/json-text.js';
import type { JsonText } from '../kernel/index.js';
import type { ReadInput } from '../worker/task-definition.js';
import type { SchemaIssue, StandardSchema } from './standard-schema.js';

/** Issues beyond these say little more, and an error has to stay readable. */
const MOST_ISSUES = 5;

/**
 * Checks an input against its schema; without one it is there at once. What is stored is what was given: the schema is applied
 * again before each run.
 */
export function readInput(
  schema: StandardSchema | null,
  input: unknown,
  what: string,
): ReadInput | Promise<ReadInput> {
  return schema === null ? new PlainInput(toJsonText(input, what)) : readBy(schema, input, what);
}

/** All that can go wrong with one input is its promise's to tell: others may be under way. */
async function readBy(schema: StandardSchema, input: unknown, what: string): Promise<ReadInput> {
  const text = toJsonText(input, what);
  return { text, value: await readStored(schema, text, what) };
}

/** An input that is stored, as the schema reads it; without one, at once. */
export function readStored(schema: StandardSchema | null, text: JsonText, what: string): unknown {
  const given = JSON.parse(text) as unknown;
  return schema === null ? given : validated(schema, given, what);
}

async function validated(schema: StandardSchema, given: unknown, what: string): Promise<unknown> {
  const validating = schema['~standard'].validate(given);
  const result = validating instanceof Promise ? await validating : validating;
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  const shown = issues.slice(0, MOST_ISSUES).map(({ path, message }) => `${path || 'the value'}: ${message}`);
  throw new PawlError('INVALID_INPUT', {
    detail: `${what} does not fit its schema: ${shown.join('; ')}`,
    details: { issues },
  });
}

/** Without a schema the value is what the text says; few look at it. */
class PlainInput implements ReadInput {
  readonly text: JsonText;

  constructor(text: JsonText) {
    this.text = text;
  }

  get value(): unknown {
    return JSON.parse(this.text);
  }
}

function pathOf({ path = [] }: SchemaIssue): string {
  return path
    .map((part) => String(typeof part === 'object' ? part.key : part))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}
