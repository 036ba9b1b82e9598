import { expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { laneOf } from '../../src/kernel/index.js';
import { aJobSpec, fakeClock, T0 } from '../../src/testkit/index.js';
import type { Store } from '../../src/ports/store.js';
import { ApiRig, type RigOptions } from './api-rig.js';

const echo = task({ name: 'echo', queue: 'main' }, ({ input }) => input);
const FRESH_MS = 10_000;

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ tasks: [echo], ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

test('counts the tenant’s own live jobs and dead letters, and how long each queue keeps somebody waiting', async () => {
  const rig = await rigOf();
  const [waiting, failed, retried] = await Promise.all(
    [1, 2, 3].map(async () => (await rig.post('/api/v1/jobs', { job_type: 'echo' })).data),
  );
  await rig.post('/api/v1/jobs', { job_type: 'echo', delay_ms: 60_000 });
  await rig.post('/api/v1/jobs', { job_type: 'echo' }, { key: 'other' });
  await rig.drill(String(failed?.['job_id']), '?force_fail=true');
  await rig.drill(String(retried?.['job_id']), '?transient_fail=true');
  rig.app.clock.advance(500);
  const { data } = await rig.get('/api/v1/overview', { key: 'viewer' });
  expect(data['live']).toEqual(
    expect.arrayContaining([
      { status: 'queued', count: 1 },
      { status: 'scheduled', count: 1 },
      { status: 'retrying', count: 1 },
    ]),
  );
  expect(data['live']).toHaveLength(3);
  expect(data).toMatchObject({
    dead_letters_open: 1,
    queues: [{ queue: 'main', oldest_due_at: waiting?.['created_at'] }],
  });
  const { data: others } = await rig.get('/api/v1/overview', { key: 'otherViewer' });
  expect(others).toMatchObject({ live: [{ status: 'queued', count: 1 }], dead_letters_open: 0 });
});

test('whoever comes while the first count is under way waits for it', async () => {
  const rig = await rigOf();
  await rig.post('/api/v1/jobs', { job_type: 'echo' });
  const replies = await Promise.all([1, 2, 3].map(() => rig.get('/api/v1/overview')));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
});

test('what is due later keeps nobody waiting', async () => {
  const rig = await rigOf();
  await rig.post('/api/v1/jobs', { job_type: 'echo', delay_ms: 60_000 });
  expect((await rig.get('/api/v1/overview')).data['queues']).toEqual([]);
  rig.app.clock.advance(60_000 + FRESH_MS);
  expect((await rig.get('/api/v1/overview')).data['queues']).toMatchObject([{ queue: 'main' }]);
});

test('a store that could not be counted is told, and not shown as empty', async () => {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  let isDown = true;
  const liveCounts: Store['liveCounts'] = () =>
    isDown ? Promise.reject(new Error('away')) : inner.liveCounts();
  const store: Store = Object.assign(Object.create(inner) as Store, { liveCounts });
  const rig = await rigOf({ clock, store });
  const refused = await rig.get('/api/v1/overview');
  expect([refused.status, refused.error.code]).toEqual([503, 'NOT_READY']);
  isDown = false;
  clock.advance(FRESH_MS);
  expect((await rig.get('/api/v1/overview')).status).toBe(200);
});

test('a queue is worked on for as long as the lease of a worker stands', async () => {
  const rig = await rigOf();
  const worker = { id: 'w-1', incarnation: 'w-1.1' };
  await rig.app.store.beat({ worker, leaseMs: 30_000, lanes: [laneOf(aJobSpec({ queue: 'mail' }))] });
  expect((await rig.get('/api/v1/queues')).data['queues']).toEqual(['mail']);
  rig.app.clock.advance(30_000);
  expect((await rig.get('/api/v1/queues')).data['queues']).toEqual([]);
});
