import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { advanceUntil } from '../testkit/index.js';
import { UnreadJobs } from './unread-jobs.js';

/** A job whose log this worker cannot read from now on, although others may. */
async function unread() {
  const cluster = newCluster();
  const nap = task({ name: 'nap' }, async ({ step }) => {
    await step.sleep('nap', '1m');
    return 'rested';
  });
  const state = { isUnreadable: false, claims: 0 };
  const store: Store = {
    ...cluster.store,
    log: async (jobId, page) => {
      const reply = await cluster.store.log(jobId, page);
      if (!state.isUnreadable) return reply;
      state.claims += 1;
      return { ...reply, rows: reply.rows.map((row) => ({ ...row, body: '{"v":99}' })) };
    },
  };
  const rig = await cluster.join([nap], {}, store);
  const { job } = await rig.app.start(nap, null);
  await advanceUntil(cluster.clock, async () => (await job.status()).status === 'waiting');
  state.isUnreadable = true;
  return { cluster, nap, rig, job, state };
}

test('DEC-5 a job that a worker cannot read is handed back and left to others, and its log does not grow with every poll', async () => {
  const { cluster, job, state } = await unread();
  const { rev } = await job.status();
  const until = cluster.clock.now() + 3_600_000;
  await advanceUntil(cluster.clock, () => cluster.clock.now() >= until);
  const after = await job.status();
  expect(after).toMatchObject({ status: 'interrupted', recoveryCount: 0, retryCount: 0 });
  expect(state.claims).toBeGreaterThan(3);
  // The end of its wait, and two for each time that it was tried.
  expect(after.rev - rev).toBe(1 + 2 * state.claims);
  expect(after.rev - rev).toBeLessThan(20);
});

test('DEC-5 another that can read it has it at once', async () => {
  const { cluster, nap, job, state } = await unread();
  await advanceUntil(cluster.clock, () => state.claims === 1);
  const leftAt = cluster.clock.now();
  const other = await cluster.join([nap]);
  expect(await other.ended(job, { atMost: '10s' })).toMatchObject({ status: 'succeeded', recoveryCount: 0 });
  expect(cluster.clock.now() - leftAt).toBeLessThan(2_000);
});

test('once it is mended, the worker that left it runs it', async () => {
  const { cluster, rig, job, state } = await unread();
  await advanceUntil(cluster.clock, () => state.claims === 2);
  state.isUnreadable = false;
  expect(await rig.ended(job, { atMost: '10m' })).toMatchObject({ result: '"rested"' });
});

test('each is left for twice as long as the last time, for an hour at most', () => {
  let now = 0;
  const unreadJobs = new UnreadJobs(() => now);
  const spans: number[] = [];
  for (let time = 0; time < 8; time++) {
    const leftAt = now;
    unreadJobs.leave('a');
    while (unreadJobs.left.length > 0) now += 60_000;
    spans.push((now - leftAt) / 60_000);
  }
  expect(spans).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test('DEC-5 of too many that cannot be read those are remembered that were met first, until their time is over', () => {
  let now = 0;
  const jobs = new UnreadJobs(() => now);
  const met = Array.from({ length: 600 }, (_, n) => jobs.leave(`job_${n}`));
  expect(met.filter(Boolean)).toHaveLength(500);
  expect(jobs.left).toHaveLength(500);
  now += 60_000;
  expect([jobs.leave('job_599'), jobs.left]).toEqual([true, ['job_599']]);
});
