import fc from 'fast-check';
import { z } from 'zod';
import { hostileJson } from './hostile.js';

type Schema = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
};

export function schemaOf(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
}

/** Values for fields whose schema leaves open what the engine then judges. */
const KNOWN: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  job_type: fc.constantFrom('w', 'echo', 'fails', 'nobody-knows'),
  workflow_name: fc.constantFrom('w', 'echo', 'nobody-knows'),
  reason: fc.constantFrom('no longer wanted', 'Grund: überholt'),
  name: fc.constantFrom('a key', 'Schlüssel'),
  schedule_type: fc.constantFrom('at', 'every', 'cron', 'daily'),
  scheduled_at: fc.constantFrom('2026-03-01T00:00:00Z', '2099-12-31T23:59:59.999Z', '1970-01-01T00:00Z'),
  run_at: fc.constantFrom('2026-03-01T00:00:00Z', '2099-12-31T23:59:59.999Z'),
  every_ms: fc.constantFrom(100, 60_000, 86_400_000),
  cron: fc.constantFrom('0 7 * * *', '*/5 * * * MON-FRI', '0 0 29 2 *', '59 59 23 31 12 *'),
  daily_at: fc.constantFrom('07:30', '23:59:59'),
  time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
  from: fc.constantFrom('2026-01-01T00:00:00Z'),
  overlap: fc.constantFrom('allow', 'skip', 'queue', 'cancel_running'),
  catch_up: fc.constantFrom('all', 'latest', 'none'),
  correlation_key: fc.constantFrom('go', 'approval', 'a'.repeat(100)),
  url: fc.constantFrom(
    'https://example.com/hook',
    'http://10.0.0.1/',
    'ftp://x',
    'https://user:pw@example.com',
  ),
  per_second: fc.constantFrom(null, 1_000, 100_000),
  wait_ms: fc.constantFrom('0', '5'),
  limit: fc.constantFrom('1', '50', '200'),
  after_rev: fc.constantFrom('1', '3'),
  idempotency_key: fc.constantFrom('k1', 'k2', 'schlüssel', '鍵'),
  job_id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{7,20}$/),
  run_id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{7,20}$/),
  task_id: fc.constantFrom('task_1', 'task_2', 'task_3', 'a task, with spaces/and more'),
};

/** Values that a schema takes. */
export function fitting(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (known) return known;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => fitting(one, name)));
  switch (schema.type) {
    case 'string':
      return fc.string({
        unit: 'grapheme',
        minLength: 1,
        maxLength: Math.min(20, Math.floor((schema.maxLength ?? 20) / 4)),
      });
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.max(schema.minimum ?? 0, -1_000),
        max: Math.min(schema.maximum ?? 1_000, 100_000),
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(fitting(schema.items ?? {}), { minLength: 1, maxLength: 4 });
    case 'object':
      return objects(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

/** What is required, and up to two of the rest: more of them would rarely go together. */
function objects({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return fc.subarray(optional, { maxLength: Math.min(2, optional.length) }).chain((chosen) => {
    const names = [...required, ...chosen];
    return fc.record(Object.fromEntries(names.map((name) => [name, fitting(properties[name] ?? {}, name)])));
  });
}

/** The same, with one thing wrong: a field of another kind, one too many, or one too few. */
export function almostFitting(schema: Schema): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return hostileJson;
  return fc
    .tuple(
      fitting(schema),
      fc.constantFrom(...names, 'unknown_field', '__proto__'),
      fc.option(hostileJson, { nil: undefined }),
    )
    .map(([value, name, wrong]) => {
      const changed: Record<string, unknown> = { ...(value as object) };
      Object.defineProperty(changed, name, { value: wrong, enumerable: true, configurable: true });
      if (wrong === undefined) delete changed[name];
      return changed;
    });
}
