import { z } from 'zod';
import { isSchedule, isTask, isTracing } from '../../client/made-things.js';
import { retentionOf, type RetentionOptions } from '../../client/retention-options.js';
import { ALERT_DEFAULTS } from '../../engine/alerts/alert-options.js';
import { isDuration, NO_DURATION, type Duration } from '../../engine/duration.js';
import { STATUSES } from '../../kernel/index.js';
import { text as printable } from '../../http/fields.js';
import { LOG_LEVELS } from '../../ports/logger.js';

const text = z.string().min(1, 'is empty');
/** As long as the kernel takes it. */
export const queueName = printable(200);
const duration = z.custom<Duration>(isDuration, {
  error: `is ${NO_DURATION}`,
});
const hook = z.custom((value) => typeof value === 'function', { error: 'is no function' }).optional();

/** What a config file may say. Names and types are checked here; whether a value makes sense, by whoever uses it. */
export const configSchema = z.strictObject({
  store: text.optional(),
  key: text.optional(),
  tasks: z
    .array(
      z.custom((value) => typeof value === 'string' || isTask(value), {
        error: 'is neither a task nor a file name',
      }),
    )
    .optional(),
  schedules: z.array(z.custom(isSchedule, { error: 'is no schedule: make it with schedule()' })).optional(),
  defaultTask: text.optional(),
  server: z.strictObject({ host: text.optional(), port: z.int().min(0).max(65_535).optional() }).optional(),
  worker: z
    .strictObject({
      concurrency: z.int().min(1).optional(),
      workerId: text.optional(),
      lease: duration.optional(),
      poll: duration.optional(),
      drain: duration.optional(),
      queues: z.array(queueName).min(1).optional(),
    })
    .optional(),
  retention: z
    .strictObject({
      keep: duration,
      keepKeys: duration.optional(),
      rules: z
        .array(z.strictObject({ task: text.optional(), status: z.enum(STATUSES).optional(), keep: duration }))
        .optional(),
      evidence: z.custom(isEvidence, { error: 'is neither the path of a folder nor a function' }).optional(),
    })
    .optional(),
  callbacks: z.strictObject({ allowPrivate: z.boolean() }).optional(),
  hooks: z.strictObject({ attemptStarted: hook, attemptEnded: hook, lateResult: hook }).optional(),
  alerts: orOff(ALERT_DEFAULTS),
  tracing: z.custom(isTracing, { error: 'traces nothing: make it with openTelemetry()' }).optional(),
  logLevel: z.enum(LOG_LEVELS).optional(),
});

/** Settings with the names that their defaults have, together and in groups; `false` switches them off. */
function orOff(defaults: object): z.ZodType {
  const members = Object.entries(defaults).map(
    ([name, value]) =>
      [name, typeof value === 'object' ? orOff(value as object) : z.unknown().optional()] as const,
  );
  return z
    .preprocess((value) => (value === false ? {} : value), z.strictObject(Object.fromEntries(members)))
    .optional();
}

function isEvidence(evidence: unknown): boolean {
  return isTaken(() => retentionOf({ keep: 0, evidence } as RetentionOptions));
}

/** Whether those who use a value would take it: they have the rule. */
function isTaken(use: () => unknown): boolean {
  try {
    use();
    return true;
  } catch {
    return false;
  }
}
