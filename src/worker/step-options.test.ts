import { expect, test } from 'vitest';
import { pawl, task, type HandlerContext, type Steps } from '../index.js';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const other = task({ name: 'other' }, () => 1);

/** As one calls it who writes without types. */
const say = (step: Steps, call: keyof Steps, said: readonly unknown[]): unknown =>
  Reflect.apply(step[call], step, said);

test.each<[option: string, call: keyof Steps, said: readonly unknown[], problem: string]>([
  ['body', 'run', ['a', 5], "the body of step 'a' is 5, which is no function"],
  ['body', 'transaction', ['a'], "the body of step 'a' is undefined, which is no function"],
  ['retries', 'run', ['a', () => 1, { retries: 3 }], "step 'a' has no option 'retries'"],
  ['retry.retries', 'run', ['a', () => 1, { retry: { retries: 3 } }], "(did you mean 'maxRetries'?)"],
  ['retry.baseMs', 'run', ['a', () => 1, { retry: { baseMs: -1 } }], "retry.baseMs of step 'a' takes milli"],
  ['timeout', 'run', ['a', () => 1, { timeout: 'soon' }], 'no duration'],
  ['effect', 'effect', ['a', () => 1, {}], "step 'a' enters a function, which was not made by effect()"],
  ['effect', 'effect', ['a', other, {}], 'which was not made by effect()'],
  ['task', 'call', ['a', 'other', {}], `step 'a' calls "other", which was not made by task()`],
  ['tenantId', 'call', ['a', other, {}, { tenantId: 'b' }], "step 'a' has no option 'tenantId'"],
  ['timout', 'waitFor', ['key', { timout: '1d' }], "(did you mean 'timeout'?)"],
  ['kind', 'waitFor', ['key', { kind: 'mail' }], 'none of signal, approval, message'],
])('a step is refused for its %s, and its job not tried again: %s', async (option, call, said, problem) => {
  let thrown: unknown = null;
  const handler = async ({ step }: HandlerContext<null>): Promise<unknown> => {
    try {
      return await say(step, call, said);
    } catch (error) {
      thrown = error;
      throw error;
    }
  };
  const wrong = task({ name: 'wrong' }, handler);
  const app = await pawl({ store: 'memory:', tasks: [wrong, other], log: silent });
  try {
    const { job } = await app.start(wrong, null);
    await app.work({ stopOnSignal: false });
    await expect(job.result()).rejects.toMatchObject({
      details: { failure: { code: 'INVALID_OPTION', message: expect.stringContaining(problem) as string } },
    });
    expect(thrown).toMatchObject({ details: { option } });
    const [letter] = await app.deadLetters.list();
    expect(letter?.context.attempts).toHaveLength(1);
    expect(await app.counts()).toEqual({ failed: 1 });
  } finally {
    await app.close();
  }
});
