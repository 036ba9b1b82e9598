import { expect, onTestFinished, test } from 'vitest';
import { task, type AnyTask } from '../client/task.js';
import { PawlError, type ErrorCode } from '../errors.js';
import type { CommandType } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';

/** A store that will not have some commands, as a server may do whose rules are others than the worker's. */
async function rigWithout(
  refused: readonly CommandType[],
  tasks: readonly AnyTask[],
  code: ErrorCode = 'INVALID_COMMAND',
) {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const commit: Store['commit'] = async (items) => {
    if (items.some(({ commands = [] }) => commands.some(({ type }) => refused.includes(type))))
      throw new PawlError(code, { detail: 'children holds something that is no child' });
    return inner.commit(items);
  };
  const rig = await testApp({ tasks, clock, store: { ...inner, commit } });
  onTestFinished(() => rig.stop());
  return rig;
}

test('DEC-14 JOB-4 an attempt whose commit is refused for good is counted: its job comes to the dead letters', async () => {
  let runs = 0;
  const order = task({ name: 'order', retry: { maxRetries: 2 } }, async ({ step }) => {
    runs += 1;
    await step.run('quote', () => 12);
  });
  const rig = await rigWithout(['record-step'], [order]);
  const { job } = await rig.app.start(order, null);
  const ended = await rig.ended(job);
  expect(ended).toMatchObject({ status: 'failed', retryCount: 2, failure: { code: 'INVALID_COMMAND' } });
  expect(runs).toBe(3);
  expect(await rig.app.deadLetters.list()).toMatchObject([{ jobId: job.id, errorCode: 'INVALID_COMMAND' }]);
});

test('GUA-10 where not even its failure can be saved the attempt is given up, and another begins', async () => {
  let runs = 0;
  const refused: CommandType[] = ['record-step', 'fail-attempt'];
  const order = task({ name: 'order' }, async ({ step }) => {
    runs += 1;
    if (runs === 2) refused.length = 0;
    return step.run('quote', () => 12);
  });
  const rig = await rigWithout(refused, [order]);
  const { job } = await rig.app.start(order, null);
  expect(await rig.ended(job)).toMatchObject({ status: 'succeeded', retryCount: 0 });
  expect(runs).toBe(2);
});

test('GUA-10 a server of another release costs no attempt: the job waits until there is one of its own', async () => {
  let runs = 0;
  const refused: CommandType[] = ['record-step'];
  const order = task({ name: 'order', retry: { maxRetries: 0 } }, async ({ step }) => {
    runs += 1;
    if (runs === 3) refused.length = 0;
    return step.run('quote', () => 12);
  });
  const rig = await rigWithout(refused, [order], 'COMMIT_DIFFERS');
  const { job } = await rig.app.start(order, null);
  expect(await rig.ended(job)).toMatchObject({ status: 'succeeded', retryCount: 0 });
  expect(runs).toBe(3);
});
