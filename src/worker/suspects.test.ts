import { expect, test } from 'vitest';
import { onEveryStore, type Fresh } from '../../test/on-every-store.js';
import type { Pawl } from '../client/app.js';
import { task, type AnyTask } from '../client/task.js';
import type { TaskRate } from '../client/task-limits.js';
import { advanceUntil, Link } from '../testkit/index.js';

/** So many jobs that have lost two workers in a row, and stay once they run. */
async function suspects(fresh: Fresh, count: number, rateLimit?: TaskRate) {
  const cluster = await fresh.cluster();
  const stays = task({ name: 'stays', ...(rateLimit && { rateLimit }) }, ({ input }) =>
    input === 'stay' ? new Promise(() => undefined) : 'done',
  );
  const client = await cluster.join([stays], false);
  const inputs = Array.from({ length: count }, () => ({ input: 'stay' }));
  const started = await client.app.startMany(stays, inputs);
  const statuses = async () => Promise.all(started.map(({ job }) => job.status()));
  for (let crashes = 1; crashes <= 2; crashes++) {
    const link = new Link(cluster.store);
    const doomed = await cluster.join([stays], { concurrency: 50 }, link.store);
    await advanceUntil(cluster.clock, async () =>
      (await statuses()).every(({ status }) => status === 'running'),
    );
    link.down = true;
    const sweeper = await cluster.join([], {});
    await advanceUntil(cluster.clock, async () =>
      (await statuses()).every(({ recoveryCount }) => recoveryCount === crashes),
    );
    await sweeper.stop();
    await doomed.idle();
  }
  return { cluster, client, stays, statuses };
}

/** So many that end as soon as they run. */
async function startHealthy(app: Pawl, stays: AnyTask, count: number) {
  const inputs = Array.from({ length: count }, () => ({ input: 'go' }));
  const started = await app.startMany(stays, inputs);
  const succeeded = async (): Promise<boolean> => {
    const ends = await Promise.all(started.map(({ job }) => job.status()));
    return ends.every(({ status }) => status === 'succeeded');
  };
  return { succeeded };
}

onEveryStore((fresh) => {
  test('DEC-2 suspects that wait for one that runs are in nobody’s way, however many they are', async () => {
    const { cluster, client, stays, statuses } = await suspects(fresh, 12);
    cluster.clock.advance(1_000);
    const { succeeded } = await startHealthy(client.app, stays, 20);
    const startedAt = cluster.clock.now();
    const last = await cluster.join([stays], { concurrency: 4 });
    await advanceUntil(cluster.clock, succeeded, { atMost: '10m' });
    expect(cluster.clock.now() - startedAt).toBeLessThan(5_000);
    expect((await statuses()).filter(({ status }) => status === 'running')).toHaveLength(1);
    await last.stop();
    // The next worker runs another one: they were stepped over, not forgotten.
    const next = await cluster.join([stays], { concurrency: 4 });
    await advanceUntil(cluster.clock, async () =>
      (await statuses()).some(({ status }) => status === 'running'),
    );
    await next.stop();
  });

  test('TSK-7 jobs that a claim leaves use up nothing of the rate', async () => {
    const { cluster, client, stays } = await suspects(fresh, 3, { limit: 6, per: '1h' });
    cluster.clock.advance(3_600_000);
    await cluster.join([stays], { concurrency: 10 });
    cluster.clock.advance(10_000);
    const { succeeded } = await startHealthy(client.app, stays, 5);
    await advanceUntil(cluster.clock, succeeded, { atMost: '30m' });
  });

  test('DEC-2 one that was left, and is a suspect no longer, is run by who left it', async () => {
    const { cluster, client, stays, statuses } = await suspects(fresh, 2);
    const first = await cluster.join([stays], {});
    await advanceUntil(cluster.clock, async () =>
      (await statuses()).some(({ status }) => status === 'running'),
    );
    cluster.clock.advance(5_000);
    await first.idle();
    const left = (await statuses()).find(({ status }) => status !== 'running')?.spec.jobId ?? '';
    // Elsewhere it gets so far that nothing is left of what it was suspected of.
    const nap = task({ name: 'stays' }, async ({ step }) => {
      await step.run('a', () => 1);
      await step.sleep('nap', '1m');
    });
    const other = await cluster.join([nap], {});
    const its = client.app.job(left);
    await advanceUntil(cluster.clock, async () => (await its.status()).status === 'waiting');
    await other.stop();
    await advanceUntil(cluster.clock, async () => (await its.status()).status === 'running', {
      atMost: '5m',
    });
    await first.stop();
  });
});
