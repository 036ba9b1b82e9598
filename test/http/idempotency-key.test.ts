import { describe, expect, onTestFinished, test } from 'vitest';
import { PawlError } from '../../src/errors.js';
import { forgetOldAnswers } from '../../src/http/first-answers.js';
import type { Store } from '../../src/ports/store.js';
import { fakeClock, T0 } from '../../src/testkit/index.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { ApiRig, type Call, type RigOptions } from './api-rig.js';
import { contentsOf, repliesIn } from './store-contents.js';

const JOBS = '/api/v1/jobs';
const HOUR_MS = 3_600_000;
const courier = { check: async () => undefined, deliver: async () => ({ ok: true }) as never };

async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start({ courier, ...options });
  onTestFinished(() => rig.stop());
  return rig;
}

const keyed = (key: string, call: Call = {}): Call => ({
  ...call,
  headers: { 'idempotency-key': key, ...call.headers },
});
const jobsIn = async (rig: ApiRig) => (await rig.get(JOBS)).data['jobs'] as { job_id: string }[];

/** A store that fails to remember an answer, as if its server had died just then. */
function forgetful(store: Store, fails: () => boolean): Store {
  return {
    ...store,
    async putRecord(record, expected) {
      if (record.kind === 'reply' && expected > 0 && fails()) {
        throw new PawlError('STORE_UNAVAILABLE', { detail: 'it is gone' });
      }
      return store.putRecord(record, expected);
    },
  };
}

describe('JOB-13 Idempotency-Key', () => {
  test('the same key and body get the first answer, byte for byte, and one job is made', async () => {
    const rig = await rigOf();
    const body = { job_type: 'w', payload: { n: 1 } };
    const first = await rig.post(JOBS, body, keyed('a'));
    rig.app.clock.advance(HOUR_MS);
    await rig.drill(String(first.data['job_id']));
    const again = await rig.post(JOBS, body, keyed('a'));
    expect([again.status, JSON.stringify(again.body)]).toEqual([201, JSON.stringify(first.body)]);
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(await jobsIn(rig)).toHaveLength(1);
  });

  test('another body is refused, and so is the same JSON written otherwise', async () => {
    const rig = await rigOf();
    await rig.post(JOBS, '{"job_type":"w"}', keyed('a'));
    for (const body of ['{"job_type":"x"}', '{ "job_type": "w" }']) {
      const { status, error } = await rig.post(JOBS, body, keyed('a'));
      expect([status, error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    }
    expect(await jobsIn(rig)).toHaveLength(1);
  });

  test('a key is one tenant’s, for one endpoint', async () => {
    const rig = await rigOf();
    const body = { job_type: 'w' };
    await rig.post(JOBS, body, keyed('a'));
    const other = await rig.post(JOBS, body, keyed('a', { key: 'other' }));
    expect([other.status, other.data['tenant_id']]).toEqual([201, 'acme']);
    expect((await rig.post('/api/v1/runs', { workflow_name: 'w' }, keyed('a'))).status).toBe(201);
    // Another caller of the same tenant is answered too, and the case of a letter is another key.
    const colleague = await rig.post(JOBS, body, keyed('a', { key: 'colleague' }));
    expect(colleague.headers.get('idempotency-replayed')).toBe('true');
    expect((await rig.post(JOBS, body, keyed('A'))).headers.get('idempotency-replayed')).toBeNull();
    expect(await jobsIn(rig)).toHaveLength(3);
  });

  test('it is remembered for 24 hours, and swept away then', async () => {
    const rig = await rigOf();
    const body = { job_type: 'w' };
    const first = await rig.post(JOBS, body, keyed('a'));
    rig.app.clock.advance(24 * HOUR_MS - 1);
    await forgetOldAnswers(rig.engine);
    expect((await rig.post(JOBS, body, keyed('a'))).data).toEqual(first.data);
    rig.app.clock.advance(1);
    const later = await rig.post(JOBS, { job_type: 'another' }, keyed('a'));
    expect([later.status, later.data['job_id'] === first.data['job_id']]).toEqual([201, false]);
    expect(await repliesIn(rig.app.store)).toBe(1);
    rig.app.clock.advance(24 * HOUR_MS);
    await forgetOldAnswers(rig.engine);
    expect(await repliesIn(rig.app.store)).toBe(0);
  });

  test('it does not set the job’s own key', async () => {
    const rig = await rigOf();
    const { data } = await rig.post(JOBS, { job_type: 'w' }, keyed('mine'));
    expect(data['idempotency_key']).toBe(data['job_id']);
    const { data: own } = await rig.post(JOBS, { job_type: 'w', idempotency_key: 'mine' });
    expect([own['idempotent_hit'], own['idempotency_key']]).toEqual([false, 'mine']);
  });

  test.each(['', 'has space', 'ümlaut', 'x'.repeat(256)])(
    'a key that cannot be one is refused: %j',
    async (key) => {
      const rig = await rigOf();
      const { status, error } = await rig.post(JOBS, { job_type: 'w' }, keyed(key));
      expect([status, error.code, error.details]).toEqual([
        400,
        'INVALID_REQUEST',
        { field: 'Idempotency-Key' },
      ]);
      expect(await jobsIn(rig)).toEqual([]);
    },
  );

  test('a refusal is the answer too; one of who may ask, or of what cannot be read, is not', async () => {
    const rig = await rigOf();
    const { data } = await rig.post(JOBS, { job_type: 'w' });
    const path = `/api/v1/jobs/${String(data['job_id'])}/retry`;
    expect((await rig.post(path, {}, keyed('a'))).status).toBe(409);
    await rig.drill(String(data['job_id']));
    expect((await rig.post(path, {}, keyed('a'))).status).toBe(409);
    expect((await rig.post(path, {}, keyed('b'))).status).toBe(201);
    expect((await rig.post(JOBS, { job_type: 7 }, keyed('c'))).status).toBe(400);
    expect((await rig.post(JOBS, { job_type: 'w' }, keyed('c'))).status).toBe(201);
    const drill = await rig.drill(String(data['job_id']), '', keyed('d'));
    expect(drill.status).toBe(403);
  });

  test('fifty requests at once with one key: one job, and whoever is told to wait gets it later', async () => {
    const rig = await rigOf();
    const body = { job_type: 'w' };
    const all = await Promise.all(Array.from({ length: 50 }, () => rig.post(JOBS, body, keyed('a'))));
    const ids = new Set(all.filter(({ status }) => status === 201).map(({ data }) => data['job_id']));
    expect(ids.size).toBe(1);
    const rest = all.filter(({ status }) => status !== 201);
    expect(
      rest.every(({ status, error }) => status === 409 && error.code === 'IDEMPOTENCY_IN_PROGRESS'),
    ).toBe(true);
    expect(rest.every(({ error }) => error['retryable'] === true)).toBe(true);
    expect(await jobsIn(rig)).toHaveLength(1);
    expect(ids.has((await rig.post(JOBS, body, keyed('a'))).data['job_id'])).toBe(true);
  });
});

describe('JOB-13 a server that dies between doing and remembering', () => {
  const cases: Readonly<
    Record<
      string,
      { path: string; body: unknown; key?: string; id: string; prepare?: (rig: ApiRig) => Promise<string> }
    >
  > = {
    'starting a job': { path: JOBS, body: { job_type: 'w' }, id: 'job_id' },
    'starting a job with a key of its own': {
      path: JOBS,
      body: { job_type: 'w', idempotency_key: 'k' },
      id: 'job_id',
    },
    'starting a run': { path: '/api/v1/runs', body: { workflow_name: 'w' }, id: 'run_id' },
    'starting a run of a task': { path: '/api/v1/task-runs', body: { task_id: 't' }, id: 'run_id' },
    'making a key': { path: '/api/v1/keys', body: { role: 'viewer', name: 'k' }, key: 'admin', id: 'key_id' },
    subscribing: { path: '/api/v1/callbacks', body: { url: 'https://example.com/h' }, id: 'subscription_id' },
    'requeueing a dead letter': {
      path: '/api/v1/dlq/:id/requeue',
      body: {},
      id: 'job_id',
      async prepare(rig) {
        const { data } = await rig.post(JOBS, { job_type: 'w' });
        return String((await rig.drill(String(data['job_id']), '?force_fail=true')).data['dlq_id']);
      },
    },
    'triggering a schedule': {
      path: '/api/v1/schedules/:id/trigger',
      body: {},
      id: 'job_id',
      async prepare(rig) {
        const body = { job_type: 'w', schedule_type: 'every', every_ms: HOUR_MS };
        await rig.call('PUT', '/api/v1/schedules/nightly', { body });
        return 'nightly';
      },
    },
    'starting many': {
      path: '/api/v1/jobs/bulk',
      body: { jobs: [{ job_type: 'w' }, { job_type: 'x' }] },
      id: 'jobs',
    },
    'a task': {
      path: '/api/v1/tasks',
      body: { schedule_type: 'at', scheduled_at: '2099-01-01T00:00:00Z' },
      id: 'task',
    },
  };

  test.each(Object.entries(cases))(
    '%s: the repeated request finds the same, never a second',
    async (_what, { path, body, key = 'operator', id, prepare }) => {
      const clock = fakeClock(T0);
      let dies = false;
      const store = forgetful(memoryStore({ clock }), () => dies);
      const rig = await rigOf({ store, clock });
      const target = path.replace(':id', prepare ? await prepare(rig) : '');
      dies = true;
      const first = await rig.post(target, body, keyed('a', { key }));
      expect(first.status).toBe(201);
      dies = false;
      const after = await contentsOf(store);
      const soon = await rig.post(target, body, keyed('a', { key }));
      expect([soon.status, soon.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
      clock.advance(59_999);
      expect((await rig.post(target, body, keyed('a', { key }))).status).toBe(409);
      clock.advance(1);
      const again = await rig.post(target, body, keyed('a', { key }));
      expect([again.status, again.data[id]]).toEqual([201, first.data[id]]);
      expect(made(await contentsOf(store))).toEqual(made(after));
      expect((await rig.post(target, body, keyed('a', { key }))).data[id]).toEqual(first.data[id]);
    },
  );

  test('an outcome that nobody knows: the repeated request, at once, finds what was made after all', async () => {
    const clock = fakeClock(T0);
    const inner = memoryStore({ clock });
    let replyIsLost = false;
    const store: Store = {
      ...inner,
      async resolve(identities) {
        if (replyIsLost) throw new PawlError('STORE_UNAVAILABLE', { detail: 'nobody answers' });
        return inner.resolve(identities);
      },
      async load(jobId) {
        if (replyIsLost) throw new PawlError('STORE_UNAVAILABLE', { detail: 'nobody answers' });
        return inner.load(jobId);
      },
    };
    const rig = await rigOf({ store, clock });
    const schedule = { job_type: 'w', schedule_type: 'every', every_ms: HOUR_MS };
    await rig.call('PUT', '/api/v1/schedules/nightly', { body: schedule });
    replyIsLost = true;
    const lost = await rig.post('/api/v1/schedules/nightly/trigger', {}, keyed('a'));
    expect([lost.status, lost.error.code, lost.error['retryable']]).toEqual([503, 'STORE_UNAVAILABLE', true]);
    replyIsLost = false;
    const [job] = await jobsIn(rig);
    expect(job).toBeDefined();
    const again = await rig.post('/api/v1/schedules/nightly/trigger', {}, keyed('a'));
    expect([again.status, again.data['job_id']]).toEqual([201, job?.job_id]);
    expect(await jobsIn(rig)).toHaveLength(1);
  });

  test('a secret is in the first answer only, and is kept nowhere', async () => {
    const rig = await rigOf();
    for (const [path, body, member] of [
      ['/api/v1/keys', { role: 'viewer', name: 'k' }, 'key'],
      ['/api/v1/callbacks', { url: 'https://example.com/h' }, 'secret'],
    ] as const) {
      const first = await rig.post(path, body, keyed('a', { key: 'admin' }));
      const secret = String(first.data[member]);
      expect(secret.length).toBeGreaterThan(20);
      const again = await rig.post(path, body, keyed('a', { key: 'admin' }));
      expect([again.status, again.data]).toEqual([201, { ...first.data, [member]: null }]);
      const { records } = await rig.app.store.records({
        kind: 'reply',
        tenantId: null,
        after: null,
        limit: 99,
      });
      expect(JSON.stringify(records)).not.toContain(secret.slice(-30));
    }
    const { records } = await rig.app.store.records({ kind: 'key', tenantId: null, after: null, limit: 99 });
    for (const token of Object.values(rig.keys))
      expect(JSON.stringify(records)).not.toContain(token.slice(-64));
  });
});

/** Jobs, keys, subscriptions and schedules. */
function made(contents: unknown): unknown {
  const { log, records, counts } = contents as { log: unknown; records: unknown[]; counts: unknown };
  const [, keys, subscriptions] = records;
  return { log, keys, subscriptions, counts };
}
