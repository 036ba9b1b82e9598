import { expect, test } from 'vitest';
import { task } from '../client/task.js';
import { Link } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';

const job = task({ name: 'job', retry: { baseMs: 60_000, jitterMs: 0 } }, ({ input }) => {
  if (input === 'fail') throw Object.assign(new Error('no'), { code: 'E_NO' });
  return input === 'stay' ? new Promise(() => undefined) : input;
});

test('why: a paused queue, a hold, a retry, and the end, each in a sentence with its time', async () => {
  const cluster = newCluster();
  const rig = await cluster.join([job]);
  await cluster.store.pauseQueue({ queue: 'default', paused: true, by: 'ann' });
  const { job: handle } = await rig.app.start(job, 'fail');
  await rig.idle();
  expect(await handle.why()).toMatchObject({
    code: 'queue_paused',
    sentence: expect.stringMatching(/^Queue 'default' is paused by ann since 2026-/),
  });
  await cluster.store.hold({ jobIds: [handle.id], reason: 'restored', by: 'bob' });
  expect(await handle.why()).toMatchObject({
    code: 'held',
    sentence: expect.stringContaining('held by bob'),
  });
  await cluster.store.release([handle.id]);
  await cluster.store.pauseQueue({ queue: 'default', paused: false, by: 'ann' });
  cluster.clock.advance(1_000);
  await rig.idle();
  const { nextRetryAt } = await handle.status();
  expect(await handle.why()).toMatchObject({
    code: 'retry',
    until: nextRetryAt,
    sentence: expect.stringMatching(/^Attempt 2 is due at .* after E_NO\.$/),
  });
  await handle.cancel();
  expect(await handle.why()).toMatchObject({
    code: 'finished',
    sentence: expect.stringMatching(/cancelled at/),
  });
});

test('why: a sleep, and the pause before a step is tried again, by the name of the step', async () => {
  const cluster = newCluster();
  const slow = task({ name: 'slow' }, async ({ step, input }) => {
    if (input === 'sleep') await step.sleep('nap', '1h');
    const retry = { maxRetries: 1, baseMs: 3_600_000, maxBackoffMs: 3_600_000, jitterMs: 0 };
    await step.run('fetch', () => Promise.reject(new Error('no answer')), { retry });
  });
  const rig = await cluster.join([slow]);
  const whys = await Promise.all(
    ['sleep', 'fail'].map(async (input) => {
      const { job: handle } = await rig.app.start(slow, input);
      await rig.idle();
      return handle.why();
    }),
  );
  expect(whys).toMatchObject([
    { code: 'timer', sentence: expect.stringMatching(/^It sleeps at step 'nap' until 2026-/) as string },
    {
      code: 'timer',
      sentence: expect.stringMatching(/^It pauses until 2026-.*; then step 'fetch' is tried again/) as string,
    },
  ]);
});

test('why: a worker that is gone, and nobody yet who took over', async () => {
  const cluster = newCluster();
  const link = new Link(cluster.store);
  const rig = await cluster.join([job], {}, link.store);
  const { job: handle } = await rig.app.start(job, 'stay');
  await rig.idle();
  const client = await cluster.join([job], false);
  expect((await client.app.why(handle.id)).code).toBe('running');
  link.down = true;
  cluster.clock.advance(31_000);
  expect((await client.app.why(handle.id)).code).toBe('worker_gone');
  await expect(client.app.why('job_nobody')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  link.down = false;
});

test('why: of jobs that have lost their workers twice a worker runs one at a time, and the others say so', async () => {
  const cluster = newCluster();
  const client = await cluster.join([job], false);
  const handles = [await client.app.start(job, 'stay'), await client.app.start(job, 'stay')];
  for (let crashes = 0; crashes < 2; crashes++) {
    const link = new Link(cluster.store);
    const doomed = await cluster.join([job], {}, link.store);
    await doomed.idle();
    cluster.clock.advance(1_000);
    await doomed.idle();
    link.down = true;
    cluster.clock.advance(31_000);
  }
  const last = await cluster.join([job]);
  await last.idle();
  cluster.clock.advance(1_000);
  await last.idle();
  const whys = await Promise.all(handles.map(({ job: { id } }) => client.app.why(id)));
  expect(whys.map(({ code }) => code).toSorted()).toEqual(['running', 'suspect']);
  expect(whys.find(({ code }) => code === 'suspect')?.sentence).toBe(
    'It has lost its worker 2 times in a row without recording a step: it is run beside no other such job, and waits for one that runs.',
  );
});
