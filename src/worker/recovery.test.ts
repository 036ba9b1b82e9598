import { describe, expect, test } from 'vitest';
import { task } from '../client/task.js';
import { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, Link, T0 } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';

const stuck = (name: string) => task({ name }, () => new Promise(() => undefined));

describe('recovery', () => {
  test('RUN-8 DEC-2 a job whose worker vanished is interrupted and finished by another, at the cost of no attempt', async () => {
    const cluster = newCluster();
    let runs = 0;
    const job = task({ name: 'job' }, () => {
      runs += 1;
      return runs === 1 ? new Promise(() => undefined) : 'done';
    });
    const link = new Link(cluster.store);
    const first = await cluster.join([job], {}, link.store);
    const { job: handle } = await first.app.start(job, null);
    await first.idle();
    expect((await cluster.store.load(handle.id)).found?.job.status).toBe('running');
    link.down = true;
    const second = await cluster.join([job]);
    const over = await second.ended(second.app.job(handle.id));
    expect(over).toMatchObject({ status: 'succeeded', result: '"done"', retryCount: 0, recoveryCount: 1 });
    expect(cluster.clock.now() - T0).toBeGreaterThanOrEqual(30_000);
    link.down = false;
  });

  test('DEC-2 a job that takes its workers down is given up after five recoveries', async () => {
    const cluster = newCluster();
    const poison = stuck('poison');
    const { app } = await cluster.join([poison], false);
    const { job } = await app.start(poison, null);
    let crashes = 0;
    while ((await job.status()).finishedAt === null) {
      const link = new Link(cluster.store);
      const victim = await cluster.join([poison], {}, link.store);
      await advanceUntil(cluster.clock, async () => {
        const { status, finishedAt } = await job.status();
        return status === 'running' || finishedAt !== null;
      });
      if ((await job.status()).status === 'running') crashes += 1;
      link.down = true;
      cluster.clock.advance(31_000);
      await victim.idle();
    }
    expect(crashes).toBe(6);
    expect(await job.status()).toMatchObject({
      status: 'failed',
      failure: { code: 'PROCESS_RESTARTED' },
      deadLetter: { reason: 'recovery_aborted' },
    });
    expect(
      (await cluster.store.dlq({ tenantId: null, status: 'open', after: null, limit: 9 })).items,
    ).toHaveLength(1);
  });

  test('DEC-3 recovery abort: the first crash is the last', async () => {
    const cluster = newCluster();
    const careful = task({ name: 'careful', recovery: 'abort' }, () => new Promise(() => undefined));
    const link = new Link(cluster.store);
    const first = await cluster.join([careful], {}, link.store);
    const { job } = await first.app.start(careful, null);
    await first.idle();
    link.down = true;
    const second = await cluster.join([careful]);
    expect(await second.ended(second.app.job(job.id))).toMatchObject({ status: 'failed', recoveryCount: 1 });
  });

  test('DEC-5 a worker that comes back under its own id takes up at once what it had left', async () => {
    const cluster = newCluster();
    let runs = 0;
    const job = task({ name: 'job' }, () => (++runs === 1 ? new Promise(() => undefined) : 'done'));
    const link = new Link(cluster.store);
    const before = await cluster.join([job], { workerId: 'w1' }, link.store);
    const { job: handle } = await before.app.start(job, null);
    await before.idle();
    link.down = true;
    cluster.clock.advance(10);
    const after = await cluster.join([job], { workerId: 'w1' });
    const over = await after.ended(after.app.job(handle.id));
    expect(over).toMatchObject({ status: 'succeeded', recoveryCount: 1 });
    expect(cluster.clock.now() - T0).toBeLessThan(15_000);
    link.down = false;
  });

  test('GUA-2 a worker whose job was taken over can write nothing more, and its handler is aborted', async () => {
    const cluster = newCluster();
    const aborted: string[] = [];
    let release: () => void = () => undefined;
    let runs = 0;
    const job = task({ name: 'job' }, async ({ step, signal }) => {
      runs += 1;
      const mine = runs;
      signal.addEventListener('abort', () => aborted.push(`run ${mine}`));
      if (mine > 1) return 'by the second';
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await step.run('late', () => 'never recorded');
      return 'by the first';
    });
    const link = new Link(cluster.store);
    const first = await cluster.join([job], {}, link.store);
    const { job: handle } = await first.app.start(job, null);
    await first.idle();
    link.down = true;
    const second = await cluster.join([job]);
    const over = await second.ended(second.app.job(handle.id));
    link.down = false;
    release();
    cluster.clock.advance(1_000);
    await first.idle();
    expect(over.result).toBe('"by the second"');
    expect(aborted).toContain('run 1');
    const { rows } = await cluster.store.log(handle.id, { fromRev: 1, limit: 100 });
    expect(rows).toHaveLength(5);
  });

  test('GUA-11 an outage: workers keep trying, and go on by themselves when it is over', async () => {
    const cluster = newCluster();
    const job = task({ name: 'job' }, ({ input }) => input);
    const link = new Link(cluster.store);
    const worker = await cluster.join([job], {}, link.store);
    const client = await cluster.join([job], false);
    await worker.idle();
    link.down = true;
    const { job: handle } = await client.app.start(job, 'patience');
    for (let minutes = 0; minutes < 5; minutes++) {
      cluster.clock.advance(60_000);
      await worker.idle();
    }
    expect((await handle.status()).status).toBe('queued');
    link.down = false;
    expect((await client.ended(handle)).result).toBe('"patience"');
  });

  test('a claim whose reply was lost is handed back, without counting as a crash', async () => {
    const cluster = newCluster();
    let lost = 0;
    const lossy = new Proxy(cluster.store, {
      get: (target, name: keyof Store) =>
        name !== 'claim'
          ? target[name]
          : async (request: Parameters<Store['claim']>[0]) => {
              const reply = await target.claim(request);
              if (reply.jobs.length === 0 || lost > 0) return reply;
              lost += 1;
              throw new PawlError('STORE_UNAVAILABLE', { detail: 'the reply was lost' });
            },
    });
    const job = task({ name: 'job' }, () => 'done');
    const rig = await cluster.join([job], {}, lossy);
    const over = await rig.ended((await rig.app.start(job, null)).job);
    expect(lost).toBe(1);
    expect(over).toMatchObject({ result: '"done"', recoveryCount: 0, retryCount: 0 });
  });
});
