import { z } from 'zod';
import { count, jobId, milliseconds } from '../fields.js';

/** What stands in a log for ever: bounded, readable, sound Unicode. */
const name = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\u0000-\u001f\u007f\ud800-\udfff]+$/u, 'must be readable');
/** A lane is put together of a queue, a task and a version, with marks between them that no name has. */
const lane = z
  .string()
  .min(1)
  .max(600)
  .regex(/^[^\ud800-\udfff\u0000]+$/u, 'is no lane');

export const MOST_LANES = 5_000;
const MOST_COMMANDS = 10_000;

/** As `attemptName` puts it together. */
export const attemptId = name(200);
export const worker = z.strictObject({ id: name(120), incarnation: name(160) });
export const lanes = z.array(lane).max(MOST_LANES);
export const claimLanes = z
  .array(
    z.strictObject({
      lane,
      key_limit: z.int().min(1).max(1_000_000_000).nullable(),
      tenant_limit: z.int().min(1).max(1_000_000_000).nullable(),
      rate_per_tenant: z.boolean(),
      rate: z
        .strictObject({
          name: name(200),
          limit: z.int().min(1).max(1_000_000_000),
          per_ms: milliseconds.min(1),
        })
        .nullable(),
    }),
  )
  .max(MOST_LANES);

/** A payload as text, and whatever else may not be read as JSON of this request. */
export const jsonText = z.string().min(1);

export const entry = {
  step: name(250),
  occurrence: z.int().min(1).max(1_000_000_000),
  entry: z.int().min(1).max(1_000_000_000),
};

export const commit = z.strictObject({
  job_id: jobId,
  rev: z.int().min(1).max(1_000_000_000),
  command_id: name(300),
  link: z.string().regex(/^[\w-]{43}$/, 'is no link'),
  commands: z
    .array(z.looseObject({ type: z.string() }))
    .min(1)
    .max(MOST_COMMANDS)
    .describe('commands of the kernel, as docs/commands.md names them'),
  inbox_rev: count.nullable(),
  takes_over: z
    .boolean()
    .default(false)
    .describe('its effects were entered by a job before, and count there'),
  children: z.array(z.strictObject({ spec: z.looseObject({}), input: jsonText })).max(MOST_COMMANDS),
});

/** A job as the kernel has it. */
export const job = z.looseObject({}).describe('the job, as the kernel folds it from its events');
export const head = z.strictObject({ link: z.string(), inbox_rev: count });
/** The time of the store: the only one that counts. */
export const now = z.int();
