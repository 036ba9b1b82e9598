import { JOB_ID_RULE, pathOf, RECOVERY_POLICIES } from '../kernel/index.js';
import { invalidOption, shown } from './options.js';

const NAME = 'takes 1 to 200 characters, none of them a control character';
const KEY = 'takes 1 to 255 characters, none of them a control character';
const LIMIT = 'takes a whole number from 0 to 1,000,000';
const SPAN = 'takes milliseconds, as a whole number from 1 up';
const DELAY = 'takes milliseconds, as a whole number from 0 up';

/** What the kernel takes for the fields of a new job that callers have a say in. A test holds the numbers against it. */
const RULES: Readonly<Record<string, string>> = {
  jobId: JOB_ID_RULE,
  tenantId: 'takes 1 to 100 characters, none of them a control character',
  name: NAME,
  task: NAME,
  version: 'takes 1 to 100 characters, none of them a control character',
  taskId: NAME,
  queue: NAME,
  idempotencyKey: KEY,
  idempotencyScope: KEY,
  traceId: KEY,
  priority: 'takes a whole number from -1,000,000 to 1,000,000',
  timeoutMs: SPAN,
  stepTimeoutMs: SPAN,
  recovery: `takes one of ${RECOVERY_POLICIES.join(', ')}`,
  signals: 'takes a list of up to 1,000 keys: letters, digits, and . _ : - up to 128 characters',
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

/** Throws INVALID_OPTION, with the rule, for what the kernel would take for no job. `at`: where among the options of `whose` it stands. */
export function expectFit<T extends object>(
  read: (value: unknown) => T,
  given: T,
  whose: string,
  at = '',
): T {
  try {
    return read(given);
  } catch (thrown) {
    const [name = ''] = /^\w+/.exec(pathOf(thrown)) ?? [];
    const rule = ruleOf(`spec.${at}${name}`) ?? 'is not valid';
    const value = (given as Readonly<Record<string, unknown>>)[name];
    throw invalidOption(at + name, `${at}${name} of ${whose} ${rule}, and is ${shown(value)}`);
  }
}
