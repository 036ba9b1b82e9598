import { JOB_ID_RULE } from '../kernel/index.js';

const NAME = 'takes 1 to 200 characters, none of them a control character';
const KEY = 'takes 1 to 255 characters, none of them a control character';
const LIMIT = 'takes a whole number from 0 to 1,000,000';
const DELAY = 'takes milliseconds, as a whole number from 0 up';

/** What the kernel takes for the fields of a new job that callers have a say in. A test holds the numbers against it. */
const RULES: Readonly<Record<string, string>> = {
  jobId: JOB_ID_RULE,
  tenantId: 'takes 1 to 100 characters, none of them a control character',
  task: NAME,
  taskId: NAME,
  queue: NAME,
  idempotencyKey: KEY,
  idempotencyScope: KEY,
  traceId: KEY,
  priority: 'takes a whole number from -1,000,000 to 1,000,000',
  timeoutMs: 'takes milliseconds, as a whole number from 1 up',
  'retry.maxRetries': LIMIT,
  'retry.baseMs': DELAY,
  'retry.maxBackoffMs': DELAY,
  'retry.jitterMs': DELAY,
  maxRecoveries: LIMIT,
};

/** The rule for a field of a command, to stand behind its name; undefined where none is written down. */
export function ruleOf(field: string): string | undefined {
  const name = field.replace(/^spec\./, '');
  return name !== field && Object.hasOwn(RULES, name) ? RULES[name] : undefined;
}
