import { describe, expect, onTestFinished, test } from 'vitest';
import { fatal } from '../client/effect.js';
import { task, type AnyTask } from '../client/task.js';
import { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp, type TestApp } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';
import { turns } from '../../test/turns.js';

async function appOf(...tasks: AnyTask[]): Promise<TestApp> {
  const rig = await testApp({ tasks });
  onTestFinished(() => rig.stop());
  return rig;
}

const double = task({ name: 'double' }, ({ input }) => Number(input) * 2);
const broken = task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
  throw new Error('no luck');
});
const forEver = task({ name: 'for-ever' }, ({ step }) => step.waitFor('never'));

async function childrenOf({ store }: TestApp): Promise<string[]> {
  const { rows } = await store.list({ tenantId: null, statuses: null, task: null, limit: 100, cursor: null });
  return rows.filter(({ task: name }) => name !== 'parent').map(({ status }) => status);
}

describe('a child job', () => {
  test('its result comes back to the step that called it; it belongs to tenant and trace of its parent', async () => {
    const parent = task({ name: 'parent' }, ({ step }) => step.call('twice', double, 21));
    const rig = await appOf(parent, double);
    const { job } = await rig.app.start(parent, null, { tenantId: 'acme', traceId: 'trace-1' });
    expect((await rig.ended(job)).result).toBe('42');
    const { rows } = await rig.store.list({
      tenantId: 'acme',
      statuses: null,
      task: 'double',
      limit: 9,
      cursor: null,
    });
    const child = await rig.app.job(rows[0]?.jobId ?? '').status();
    expect(child.spec).toMatchObject({
      traceId: 'trace-1',
      parent: { jobId: job.id, step: 'twice', occurrence: 1 },
    });
  });

  test('a child that fails throws CHILD_FAILED, which no retry of the parent could mend', async () => {
    const parent = task({ name: 'parent' }, ({ step }) => step.call('try', broken, null));
    const rig = await appOf(parent, broken);
    const { job } = await rig.app.start(parent, null);
    expect(await rig.ended(job)).toMatchObject({
      status: 'failed',
      retryCount: 0,
      failure: { code: 'CHILD_FAILED', message: expect.stringContaining('TASK_EXECUTION_FAILED: no luck') },
    });
  });

  test('GUA-9 one whose input takes long to look at is started, though the parent waits for something else too', async () => {
    const validate = async (value: unknown) => {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      return { value };
    };
    const input = { '~standard': { version: 1 as const, vendor: 'test', validate } };
    const kid = task({ name: 'kid', input }, () => 'in time');
    const parent = task({ name: 'parent' }, ({ step }) => {
      const limit = step.sleep('limit', '1d').then(() => 'too late');
      return Promise.race([limit, step.call('kid', kid, 1)]);
    });
    const rig = await appOf(parent, kid);
    const { job } = await rig.app.start(parent, null);
    expect((await rig.ended(job, { atMost: '2d' })).result).toBe('"in time"');
  });

  test('a parent may catch it, and go on', async () => {
    const parent = task({ name: 'parent' }, async ({ step }) => {
      const first = await step.call('try', broken, null).catch(() => 'caught');
      return [first, await step.call('twice', double, 1)];
    });
    const rig = await appOf(parent, broken, double);
    expect((await rig.ended((await rig.app.start(parent, null)).job)).result).toBe('["caught",2]');
  });

  test('a thousand children are started once each, and their parent is run again only a few times', async () => {
    let runs = 0;
    const parent = task({ name: 'parent' }, async ({ step }) => {
      runs += 1;
      const all = await Promise.all(Array.from({ length: 1_000 }, (_, n) => step.call('twice', double, n)));
      return all.reduce((sum, one) => sum + one, 0);
    });
    const rig = await appOf(parent, double);
    const { job } = await rig.app.start(parent, null);
    expect((await rig.ended(job)).result).toBe('999000');
    expect((await rig.store.counts({ tenantId: null })).counts).toEqual({ succeeded: 1_001 });
    expect(runs).toBeLessThan(50);
  });

  test('no orphan: children are cancelled with their parent', async () => {
    const parent = task({ name: 'parent' }, ({ step }) =>
      Promise.all([step.call('a', forEver, 1), step.call('b', forEver, 2)]),
    );
    const rig = await appOf(parent, forEver);
    const { job } = await rig.app.start(parent, null);
    await advanceUntil(rig.clock, async () => (await childrenOf(rig)).join() === 'waiting,waiting');
    await job.cancel({ reason: 'changed our mind' });
    await advanceUntil(rig.clock, async () => (await childrenOf(rig)).join() === 'cancelled,cancelled');
    await expect(job.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' });
  });

  test('no orphan: a parent that ends without waiting for its child takes it along', async () => {
    const parent = task({ name: 'parent' }, async ({ step }) => {
      void step.call('a', forEver, 1);
      await step.run('short', () => 1);
      return 'done';
    });
    const rig = await appOf(parent, forEver);
    expect((await rig.ended((await rig.app.start(parent, null)).job)).result).toBe('"done"');
    await advanceUntil(rig.clock, async () => (await childrenOf(rig)).join() === 'cancelled');
  });

  test('no orphan: a child whose start comes long after its parent was cancelled is not started', async () => {
    const cluster = newCluster();
    const kid = task({ name: 'kid' }, () => 'born');
    const parent = task({ name: 'parent' }, ({ step }) => step.call('kid', kid, null));
    let isGone = false;
    const gone = () => new PawlError('STORE_UNAVAILABLE', { detail: 'it vanished with the letter' });
    const takeOutbox: Store['takeOutbox'] = async (page) => {
      if (isGone) throw gone();
      const taken = await cluster.store.takeOutbox(page);
      isGone = taken.entries.some(({ kind }) => kind === 'child');
      if (isGone) throw gone();
      return taken;
    };
    const bearer = await cluster.join([parent], { lease: '5m' }, { ...cluster.store, takeOutbox });
    const { job } = await bearer.app.start(parent, null);
    await advanceUntil(cluster.clock, () => isGone);
    await bearer.app.job(job.id).cancel();
    await cluster.join([kid], { lease: '5m' });
    const until = cluster.clock.now() + 600_000;
    await advanceUntil(cluster.clock, () => cluster.clock.now() >= until);
    const all = { tenantId: null, statuses: null, limit: 9, cursor: null };
    expect((await cluster.store.list({ ...all, task: 'kid' })).rows).toEqual([]);
  });

  test('no orphan: a child that is started in the very commit that ends its parent is cancelled', async () => {
    const clock = fakeClock(T0);
    const memory = memoryStore({ clock });
    const bodies: string[] = [];
    const store: Store = {
      ...memory,
      commit: async (items) => {
        bodies.push(...items.map(({ body }) => body));
        const reply = await memory.commit(items);
        // While the first step is being recorded, the child is called, and the handler throws: they share the next commit.
        if (bodies.at(-1)?.includes('step.recorded')) await turns(10);
        return reply;
      },
    };
    const parent = task({ name: 'parent' }, ({ step }) =>
      Promise.all([
        step.run('a', () => 1),
        step.call('c', forEver, 1),
        turns(5).then(() => Promise.reject(fatal(new Error('no')))),
      ]),
    );
    const rig = await testApp({ tasks: [parent, forEver], clock, store });
    onTestFinished(() => rig.stop());
    const { job } = await rig.app.start(parent, null);
    expect((await rig.ended(job)).status).toBe('failed');
    expect(bodies.filter((body) => /child\.started.*job\.failed/s.test(body))).toHaveLength(1);
    await advanceUntil(clock, async () => (await childrenOf(rig)).join() === 'cancelled', { atMost: '1m' });
  });
});
