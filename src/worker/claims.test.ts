import { describe, expect, test } from 'vitest';
import { task } from '../client/task.js';
import { advanceUntil } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';

const stuck = (name: string) => task({ name }, () => new Promise(() => undefined));

describe('which jobs a worker takes', () => {
  test('an unknown task is left for a worker that knows it', async () => {
    const cluster = newCluster();
    const old = task({ name: 'old' }, () => 1);
    const fresh = task({ name: 'fresh' }, () => 2);
    const one = await cluster.join([old]);
    const { job } = await one.app.start(fresh, null);
    cluster.clock.advance(60_000);
    await one.idle();
    expect(await job.why()).toMatchObject({
      code: 'no_worker',
      sentence: "No live worker knows task 'fresh' on queue 'default'.",
    });
    const two = await cluster.join([old, fresh]);
    expect((await two.ended(job)).result).toBe('2');
  });

  test('jobs keep their version, and only workers that know it run them', async () => {
    const cluster = newCluster();
    const v1 = task({ name: 'job', version: '1' }, () => 'one');
    const v2 = task({ name: 'job', version: '2' }, () => 'two');
    const one = await cluster.join([v1], false);
    const { job } = await one.app.start(v1, null);
    const two = await cluster.join([v2]);
    cluster.clock.advance(60_000);
    await two.idle();
    expect((await job.why()).sentence).toBe(
      "No live worker knows task 'job' in version '1' on queue 'default'.",
    );
    const both = await cluster.join([v1, v2]);
    expect((await both.ended(job)).result).toBe('"one"');
  });

  test('why names who holds a key', async () => {
    const cluster = newCluster();
    const job = task(
      { name: 'job', concurrency: { key: () => 'k', limit: 1 } },
      () => new Promise(() => undefined),
    );
    const rig = await cluster.join([job]);
    const one = await rig.app.start(job, 1);
    await rig.idle();
    const two = await rig.app.start(job, 2);
    cluster.clock.advance(2_000);
    await rig.idle();
    expect(await two.job.why()).toMatchObject({
      code: 'key_limit',
      sentence: `Its concurrency key 'k' is in use by ${one.job.id}.`,
    });
    expect((await one.job.why()).sentence).toMatch(/^Worker w-.* runs attempt 1; its lease holds until /);
  });

  test('WORKER_ID_IN_USE: the older of two processes with one id stops', async () => {
    const cluster = newCluster();
    const job = stuck('job');
    const older = await cluster.join([job], { workerId: 'w1' });
    cluster.clock.advance(5);
    const newer = await cluster.join([job], { workerId: 'w1' });
    cluster.clock.advance(15_000);
    await older.idle();
    const { job: handle } = await newer.app.start(job, null);
    cluster.clock.advance(2_000);
    await newer.idle();
    const { worker } = await handle.status();
    cluster.clock.advance(15_000);
    await older.idle();
    expect((await newer.store.workers({ incarnations: null })).workers.map((one) => one.worker)).toEqual([
      worker,
    ]);
  });

  test('GUA-13 without any wake-up jobs, timers, signals and children are found by polling', async () => {
    const cluster = newCluster();
    const deaf = { ...cluster.store, wake: () => undefined, listen: () => async () => undefined };
    const child = task({ name: 'child' }, () => 'from the child');
    const job = task({ name: 'job' }, async ({ step }) => {
      await step.sleep('nap', '5s');
      return [await step.waitFor('go'), await step.call('child', child, null)];
    });
    const client = await cluster.join([job, child], false, deaf);
    await cluster.join([job, child], {}, deaf);
    await cluster.join([job, child], {}, deaf);
    const { job: handle } = await client.app.start(job, null);
    await advanceUntil(cluster.clock, async () => (await handle.why()).code === 'signal');
    await handle.signal('go', 'from outside');
    expect((await client.ended(handle)).result).toBe('["from outside","from the child"]');
  });

  test('RUN-10 a finished job that is asked for again is answered as it is; its handler ran once', async () => {
    const cluster = newCluster();
    let runs = 0;
    const job = task({ name: 'job' }, () => ++runs);
    const rig = await cluster.join([job]);
    const first = await rig.app.start(job, null, { idempotencyKey: 'once' });
    const ended = await rig.ended(first.job);
    const again = await rig.app.start(job, null, { idempotencyKey: 'once' });
    cluster.clock.advance(60_000);
    await rig.idle();
    expect([again.idempotentHit, await again.job.result(), runs]).toEqual([true, 1, 1]);
    expect(await again.job.status()).toEqual(ended);
  });
});
