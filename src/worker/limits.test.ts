import { expect, test } from 'vitest';
import { task } from '../client/task.js';
import { advanceUntil, T0 } from '../testkit/index.js';
import { onEveryStore } from '../../test/on-every-store.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

onEveryStore((fresh) => {
  test('priority first, then the time when it fell due', async () => {
    const cluster = await fresh.cluster();
    const order: unknown[] = [];
    const job = task({ name: 'job' }, ({ input }) => order.push(input));
    const client = await cluster.join([job], false);
    for (const [name, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 0],
      ['d', 9],
    ] as const) {
      await client.app.start(job, name, { priority });
    }
    const rig = await cluster.join([job], { concurrency: 1 });
    await advanceUntil(rig.clock, () => order.length === 4);
    expect(order).toEqual(['d', 'b', 'a', 'c']);
  });

  test('a concurrency key lets so many of its jobs run at once, waiting ones not counted', async () => {
    const cluster = await fresh.cluster();
    let running = 0;
    let most = 0;
    const job = task(
      { name: 'job', concurrency: { key: (input: { who: string }) => input.who, limit: 2 } },
      async ({ step }) => {
        running += 1;
        most = Math.max(most, running);
        await step.run('work', () => turn());
        running -= 1;
        await step.sleep('nap', '1m');
      },
    );
    const rig = await cluster.join([job]);
    const all = await rig.app.startMany(
      job,
      Array.from({ length: 6 }, () => ({ input: { who: 'ann' } })),
    );
    for (const one of all) expect((await rig.ended(one.job)).status).toBe('succeeded');
    expect(most).toBe(2);
    expect(rig.clock.now() - T0).toBeLessThan(61_000);
  });

  test('a rate limit is kept by all workers together, and used to the full', async () => {
    const cluster = await fresh.cluster();
    const startedAt: number[] = [];
    const job = task({ name: 'job', rateLimit: { limit: 10, per: '1m' } }, () =>
      startedAt.push(cluster.clock.now()),
    );
    const rig = await cluster.join([job]);
    for (let n = 0; n < 3; n++) await cluster.join([job]);
    const all = await rig.app.startMany(
      job,
      Array.from({ length: 35 }, () => ({ input: null })),
    );
    for (const one of all) await rig.ended(one.job);
    for (const [index, at] of startedAt.entries()) {
      const later = startedAt[index + 10];
      if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(60_000);
    }
    expect(startedAt).toHaveLength(35);
    expect(cluster.clock.now() - T0).toBeLessThan(4 * 62_000);
  });

  test('a tenant has so many of a task’s jobs running at once, and a key so many of these; waiting ones are not counted', async () => {
    const cluster = await fresh.cluster();
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    const count = (name: string, by: number) => {
      running.set(name, (running.get(name) ?? 0) + by);
      most.set(name, Math.max(most.get(name) ?? 0, running.get(name) ?? 0));
    };
    const job = task(
      {
        name: 'job',
        concurrency: { key: (input: { who: string | null }) => input.who, limit: 1, perTenant: 3 },
      },
      async ({ input, step, job: { tenantId } }) => {
        const names = [tenantId, `${tenantId} ${input.who}`];
        for (const name of names) count(name, 1);
        await step.run('work', () => turn());
        for (const name of names) count(name, -1);
        await step.sleep('nap', '1m');
      },
    );
    const rig = await cluster.join([job]);
    for (let n = 0; n < 2; n++) await cluster.join([job]);
    const who = ['ann', 'ann', 'bob', null, null, null];
    const starts = ['acme', 'globex'].flatMap((tenantId) =>
      who.map((one) => ({ input: { who: one }, options: { tenantId } })),
    );
    for (const one of await rig.app.startMany(job, starts))
      expect((await rig.ended(one.job)).status).toBe('succeeded');
    for (const tenantId of ['acme', 'globex']) {
      expect(most.get(tenantId)).toBeLessThanOrEqual(3);
      expect(most.get(`${tenantId} ann`)).toBe(1);
    }
    // Together they wait out one nap, not six: what sleeps makes room.
    expect(cluster.clock.now() - T0).toBeLessThan(100_000);
  });

  test('a rate limit may be each tenant’s own', async () => {
    const cluster = await fresh.cluster();
    const startedAt: Record<string, number[]> = { acme: [], globex: [] };
    const job = task(
      { name: 'job', rateLimit: { limit: 5, per: '1m', perTenant: true } },
      ({ job: { tenantId } }) => startedAt[tenantId]?.push(cluster.clock.now()),
    );
    const rig = await cluster.join([job]);
    await cluster.join([job]);
    const starts = ['acme', 'globex'].flatMap((tenantId) =>
      Array.from({ length: 12 }, () => ({ input: null, options: { tenantId } })),
    );
    for (const one of await rig.app.startMany(job, starts)) await rig.ended(one.job);
    for (const times of Object.values(startedAt)) {
      expect(times).toHaveLength(12);
      for (const [index, at] of times.entries()) {
        const later = times[index + 5];
        if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(60_000);
      }
    }
    expect(cluster.clock.now() - T0).toBeLessThan(3 * 65_000);
  });

  test('jobs of a paused queue wait, those of others run; resumed, they run too', async () => {
    const cluster = await fresh.cluster();
    const ran: unknown[] = [];
    const slow = task({ name: 'slow', queue: 'slow' }, ({ input }) => ran.push(input));
    const quick = task({ name: 'quick' }, ({ input }) => ran.push(input));
    const rig = await cluster.join([slow, quick]);
    await cluster.store.pauseQueue({ queue: 'slow', paused: true, by: 'ann' });
    const held = (await rig.app.start(slow, 'slow')).job;
    await rig.ended((await rig.app.start(quick, 'quick')).job);
    cluster.clock.advance(10_000);
    await rig.idle();
    expect(ran).toEqual(['quick']);
    expect(await held.why()).toMatchObject({ code: 'queue_paused' });
    await cluster.store.pauseQueue({ queue: 'slow', paused: false, by: 'ann' });
    await rig.ended(held);
    expect(ran).toEqual(['quick', 'slow']);
  });
});
