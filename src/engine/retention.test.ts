import { expect, onTestFinished, test } from 'vitest';
import { task } from '../client/task.js';
import { advanceUntil, testApp } from '../testkit/index.js';

const job = task({ name: 'job' }, () => 1);
const ledger = task({ name: 'ledger' }, () => 1);
const broken = task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
  throw new Error('always');
});

test('finished jobs go when their time is up, by task and by how they ended; open dead letters stay', async () => {
  const rig = await testApp({
    tasks: [job, ledger, broken],
    retention: {
      keep: '7d',
      rules: [
        { task: 'ledger', keep: '3650d' },
        { status: 'failed', keep: '1d' },
      ],
    },
  });
  onTestFinished(() => rig.stop());
  const kept = (await rig.app.start(ledger, null)).job;
  const gone = (await rig.app.start(job, null, { idempotencyKey: 'k' })).job;
  const failed = (await rig.app.start(broken, null)).job;
  for (const one of [kept, gone, failed]) await rig.ended(one);
  const startedAt = rig.clock.now();
  await advanceUntil(rig.clock, async () => (await rig.store.load(gone.id)).found === null);
  expect(rig.clock.now() - startedAt).toBeGreaterThanOrEqual(7 * 86_400_000);
  expect((await kept.status()).status).toBe('succeeded');
  expect((await failed.status()).status).toBe('failed');
  await expect(rig.app.start(job, null, { idempotencyKey: 'k' })).rejects.toMatchObject({
    code: 'DUPLICATE',
  });

  const [letter] = await rig.app.deadLetters.list();
  await rig.app.deadLetters.askDiscard(letter?.dlqId ?? '', { by: 'ann', reason: 'old' });
  await rig.app.deadLetters.approveDiscard(letter?.dlqId ?? '', { by: 'bob' });
  await advanceUntil(rig.clock, async () => (await rig.store.load(failed.id)).found === null);
});
