import { expect, test } from 'vitest';
import { newCluster } from '../../test/new-cluster.js';
import { task } from '../client/task.js';
import { holderLane } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { advanceUntil } from '../testkit/index.js';

/** A store that tells nobody of anything, and counts who looks into inboxes. */
function deafTo(store: Store): { readonly store: Store; readonly inboxes: string[] } {
  const inboxes: string[] = [];
  const deaf: Store = {
    ...store,
    listen: () => async () => undefined,
    wake: () => undefined,
    inbox: (jobId) => {
      inboxes.push(jobId);
      return store.inbox(jobId);
    },
  };
  return { store: deaf, inboxes };
}

test('GUA-13 a job that runs while it waits hears of a signal that nobody tells of, with the next heartbeat', async () => {
  const cluster = newCluster();
  const { clock } = cluster;
  let begun = 0;
  const anHour = () =>
    new Promise<string>((resolve) => {
      begun += 1;
      clock.after(3_600_000, () => resolve('in the end'));
    });
  const long = task({ name: 'long' }, ({ step }) => step.run('long', anHour));
  const stoppable = task({ name: 'stoppable' }, ({ step }) =>
    Promise.race([step.run('long', anHour), step.waitFor<string>('stop')]),
  );
  const { store, inboxes } = deafTo(cluster.store);
  const worker = await cluster.join([long, stoppable], {}, store);
  const { job: other } = await worker.app.start(long, null);
  const { job } = await worker.app.start(stoppable, null);
  await advanceUntil(clock, () => begun === 2);
  const client = await cluster.join([], false, store);
  const sentAt = clock.now();
  await client.app.job(job.id).signal('stop', 'stopped');
  expect(await worker.ended(job, { atMost: '1m' })).toMatchObject({ result: '"stopped"' });
  expect(clock.now() - sentAt).toBeLessThanOrEqual(11_000);
  // Who waits for nothing costs nothing.
  expect(inboxes).not.toContain(other.id);
});

test('a job that was told of a message does not look for it once more with the heartbeat that follows', async () => {
  const cluster = newCluster();
  let begun = false;
  const job = task({ name: 'job' }, ({ step }) =>
    Promise.all([
      step.run('long', () => {
        begun = true;
        return new Promise((resolve) => void cluster.clock.after(60_000, () => resolve(null)));
      }),
      step.waitFor('never', { timeout: '2m' }),
    ]),
  );
  const inboxes: string[] = [];
  let tell: (lanes: readonly string[]) => void = () => undefined;
  const store: Store = {
    ...cluster.store,
    listen: (hear) => {
      tell = hear;
      return cluster.store.listen(hear);
    },
    inbox: (jobId) => {
      inboxes.push(jobId);
      return cluster.store.inbox(jobId);
    },
  };
  const rig = await cluster.join([job], {}, store);
  const { job: handle } = await rig.app.start(job, null);
  await advanceUntil(cluster.clock, () => begun);
  await rig.idle();
  const before = inboxes.length;
  const { worker } = await handle.status();
  if (worker) tell([holderLane({ worker })]);
  await rig.idle();
  expect(inboxes.length - before).toBe(1);
});
