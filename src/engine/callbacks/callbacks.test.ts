import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { task } from '../../client/task.js';
import type { Courier, Letter } from '../../ports/courier.js';
import type { Store } from '../../ports/store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp, type TestApp } from '../../testkit/index.js';
import { onEveryStore, type Fresh } from '../../../test/on-every-store.js';

/** A receiver that keeps what it gets, and answers as it is told. */
function receiver(answer: (letter: Letter) => number | Promise<number> = () => 204) {
  const letters: Letter[] = [];
  const courier: Courier = {
    check: async () => undefined,
    async deliver(letter) {
      const status = await answer(letter);
      if (status < 300) letters.push(letter);
      return { status };
    },
  };
  return {
    courier,
    letters,
    payloads: () => letters.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
  };
}

const double = task({ name: 'double' }, ({ input }) => Number(input) * 2);
let failures = 0;
const flaky = task({ name: 'flaky', retry: { baseMs: 10, jitterMs: 0 } }, () => {
  if (failures-- > 0) throw Object.assign(new Error('not yet'), { code: 'E_YET' });
});

const appWith = (fresh: Fresh, courier: Courier): Promise<TestApp> =>
  fresh.app({ tasks: [double, flaky], courier, work: { lease: '10m', poll: '1s' } });

const URL_A = 'https://a.example/hook';

onEveryStore((fresh) => {
  test('RST-11 one for each change of the run’s status, with the fixed payload, in order', async () => {
    const { courier, payloads } = receiver();
    const rig = await appWith(fresh, courier);
    await rig.app.callbacks.subscribe({ url: URL_A });
    const { job } = await rig.app.start(double, 4);
    await rig.ended(job);
    await advanceUntil(rig.clock, () => payloads().length === 3);
    expect(payloads().map(({ status }) => status)).toEqual(['queued', 'running', 'success']);
    expect(Object.keys(payloads()[2] ?? {})).toEqual([
      'run_id',
      'workflow_name',
      'status',
      'step',
      'host',
      'timestamp',
      'error',
      'version',
    ]);
    expect(payloads()[2]).toMatchObject({
      run_id: job.id,
      workflow_name: 'double',
      step: null,
      host: null,
      version: 3,
    });
  });

  test.each([
    ['jobs', ['queued', 'running', 'retrying', 'running', 'succeeded'], 'to_status'],
    ['task-runs', ['queued', 'running', 'retry_scheduled', 'running', 'succeeded'], 'status'],
  ] as const)(
    'RST-11 in the words of the contract that the subscriber chose: %s',
    async (contract, expected, field) => {
      const { courier, payloads } = receiver();
      const rig = await appWith(fresh, courier);
      await rig.app.callbacks.subscribe({ url: URL_A, contract });
      failures = 1;
      await rig.ended((await rig.app.start(flaky, null)).job);
      await advanceUntil(rig.clock, () => payloads().length >= expected.length);
      const shown = payloads().map((payload) => ({ ...payload, ...(payload.payload as object) }));
      expect(shown.map((payload) => (payload as Record<string, unknown>)[field])).toEqual(expected);
    },
  );

  test('RST-11 signed by the Standard Webhooks convention, each with an id of its own', async () => {
    const { courier, letters } = receiver();
    const rig = await appWith(fresh, courier);
    const { secret } = await rig.app.callbacks.subscribe({ url: URL_A });
    await rig.ended((await rig.app.start(double, 4)).job);
    await advanceUntil(rig.clock, () => letters.length === 3);
    for (const { headers, body } of letters) {
      const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      expect(headers['webhook-signature']).toBe(
        `v1,${createHmac('sha256', key).update(text).digest('base64')}`,
      );
      expect(headers['content-type']).toBe('application/json');
    }
    expect(new Set(letters.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  test('RST-11 a receiver that fails is tried again with growing pauses; the run neither waits nor changes', async () => {
    const triedAt: number[] = [];
    const { courier, payloads } = receiver(() => {
      triedAt.push(rig.clock.now());
      return triedAt.length < 4 ? 503 : 200;
    });
    const rig = await appWith(fresh, courier);
    await rig.app.callbacks.subscribe({ url: URL_A });
    const { job } = await rig.app.start(double, 4);
    const startedAt = rig.clock.now();
    const ended = await rig.ended(job);
    expect([ended.status, (ended.finishedAt ?? 0) - startedAt]).toEqual(['succeeded', 0]);
    await advanceUntil(rig.clock, () => payloads().length === 3, { atMost: '1h' });
    expect(payloads().map(({ status }) => status)).toEqual(['queued', 'running', 'success']);
    const pauses = triedAt.slice(1, 4).map((at, index) => at - (triedAt[index] ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(5_000);
    expect(pauses[1] ?? 0).toBeGreaterThanOrEqual(2 * 5_000);
  });

  test('RST-11 a dead receiver slows nothing: others get theirs at once', async () => {
    const { courier, letters } = receiver(({ url }) => (url === URL_A ? new Promise(() => undefined) : 200));
    const rig = await appWith(fresh, courier);
    await rig.app.callbacks.subscribe({ url: URL_A });
    await rig.app.callbacks.subscribe({ url: 'https://b.example/hook' });
    const startedAt = rig.clock.now();
    for (let n = 0; n < 50; n++) await rig.app.start(double, n);
    await advanceUntil(rig.clock, () => letters.length === 150);
    // None passes, unless a loop is slow enough to be polled; a pause of any kind is longer.
    expect(rig.clock.now() - startedAt).toBeLessThan(2_000);
    expect((await rig.app.counts()).succeeded).toBe(50);
  });

  test('RST-11 what is given up after three days is visible, and can be sent again', async () => {
    let up = false;
    const { courier, payloads } = receiver(() => (up ? 200 : 500));
    const rig = await appWith(fresh, courier);
    await rig.app.callbacks.subscribe({ url: URL_A });
    await rig.ended((await rig.app.start(double, 4)).job);
    rig.clock.advance(4 * 86_400_000);
    await advanceUntil(rig.clock, async () => (await rig.app.callbacks.dead()).length > 0, { atMost: '1d' });
    expect(payloads()).toEqual([]);
    up = true;
    const dead = await rig.app.callbacks.dead();
    await rig.app.callbacks.redrive(dead.map(({ entryId }) => entryId));
    await advanceUntil(rig.clock, () => payloads().length >= dead.length, { atMost: '2d' });
  });

  test('RST-11 changes of steps too, or instead, for whoever asked for them', async () => {
    const steps = task({ name: 'steps', retry: { maxRetries: 0 } }, async ({ step }) => {
      await step.run('pack', () => 1);
      await step.run('pack', () => 2);
      await step.run('ship', () => {
        throw new Error('no van');
      });
    });
    const { courier, letters, payloads } = receiver();
    const rig = await fresh.app({ tasks: [steps], courier, work: { lease: '10m', poll: '1s' } });
    const both = 'https://both.example/';
    await rig.app.callbacks.subscribe({ url: URL_A, events: ['step'] });
    await rig.app.callbacks.subscribe({ url: both, events: ['status', 'step'] });
    const { job } = await rig.app.start(steps, null);
    await rig.ended(job);
    await advanceUntil(rig.clock, () => letters.length === 9);
    const heardAt = (url: string) =>
      payloads().flatMap(({ status, step }, index) => (letters[index]?.url === url ? [[step, status]] : []));
    const ofSteps = [
      ['pack', 'success'],
      ['pack#2', 'success'],
      ['ship', 'failed'],
    ];
    expect(heardAt(URL_A)).toEqual(ofSteps);
    expect(heardAt(both)).toEqual([[null, 'queued'], [null, 'running'], ...ofSteps, [null, 'failed']]);
    const shipped = payloads().find(({ step }) => step === 'ship');
    expect(shipped).toMatchObject({
      run_id: job.id,
      host: null,
      error: { code: 'TASK_EXECUTION_FAILED', message: 'no van' },
    });
    await expect(
      rig.app.callbacks.subscribe({ url: URL_A, contract: 'jobs', events: ['step'] }),
    ).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option: 'events' } });
  });

  test('RST-11 a child is told of from its beginning', async () => {
    const parent = task({ name: 'parent' }, ({ step }) => step.call('child', double, 2));
    const { courier, payloads } = receiver();
    const rig = await fresh.app({ tasks: [parent, double], courier, work: { lease: '10m', poll: '1s' } });
    await rig.app.callbacks.subscribe({ url: URL_A, tasks: ['double'] });
    await rig.ended((await rig.app.start(parent, null)).job);
    await advanceUntil(rig.clock, () => payloads().length === 3);
    expect(payloads().map(({ status }) => status)).toEqual(['queued', 'running', 'success']);
  });

  test('RST-11 a subscription that another process made a moment ago: nothing that was written is dropped', async () => {
    const cluster = await fresh.cluster();
    const { courier, payloads } = receiver();
    const server = await testApp({ store: cluster.store, clock: cluster.clock, courier, work: false });
    // It has just looked which there are, and finds a letter of one that it does not know.
    const worker = await testApp({
      store: cluster.store,
      clock: cluster.clock,
      courier,
      seed: 2,
      work: { lease: '10m', poll: '1s' },
    });
    await worker.idle();
    await server.app.callbacks.subscribe({ url: URL_A });
    await server.app.start(double, 1);
    await advanceUntil(cluster.clock, () => payloads().length === 1);
    expect(payloads()).toMatchObject([{ status: 'queued' }]);
    await worker.stop();
    await server.stop();
  });

  test('RST-11 an operator’s cancel is told of, also by a process that has not started anything for long', async () => {
    const cluster = await fresh.cluster();
    const { courier, payloads } = receiver();
    const [first, second] = [
      await testApp({ store: cluster.store, clock: cluster.clock, courier, work: false }),
      await testApp({ store: cluster.store, clock: cluster.clock, courier, work: false, seed: 2 }),
    ];
    const jobs = await first.app.startMany(double, [{ input: 1 }, { input: 2 }, { input: 3 }]);
    await second.app.callbacks.subscribe({ url: URL_A });
    cluster.clock.advance(2_000);
    await Promise.all(jobs.map(({ job }) => job.cancel({ reason: 'not needed' })));
    const worker = await testApp({
      store: cluster.store,
      clock: cluster.clock,
      courier,
      seed: 3,
      work: { lease: '10m', poll: '1s' },
    });
    await advanceUntil(cluster.clock, () => payloads().length === 3);
    expect(payloads().map(({ status }) => status)).toEqual(['canceled', 'canceled', 'canceled']);
    for (const one of [worker, first, second]) await one.stop();
  });

  test('tenants hear of their own jobs only, and of the tasks they asked for; without a subscription nothing is written', async () => {
    const { courier, payloads } = receiver();
    const rig = await appWith(fresh, courier);
    await rig.ended((await rig.app.start(double, 1)).job);
    expect((await rig.store.takeOutbox({ kind: 'callback', limit: 9, leaseMs: 1 })).entries).toEqual([]);
    const { id } = await rig.app.callbacks.subscribe({ url: URL_A, tenantId: 'acme', tasks: ['double'] });
    failures = 0;
    await rig.ended((await rig.app.start(double, 1)).job);
    await rig.ended((await rig.app.start(flaky, 1, { tenantId: 'acme' })).job);
    const { job } = await rig.app.start(double, 1, { tenantId: 'acme' });
    await rig.ended(job);
    await advanceUntil(rig.clock, () => payloads().length === 3);
    expect(new Set(payloads().map(({ run_id }) => run_id))).toEqual(new Set([job.id]));
    expect(await rig.app.callbacks.list()).toMatchObject([{ id, tenantId: 'acme' }]);
    expect(JSON.stringify(await rig.app.callbacks.list())).not.toContain('whsec_');
    await rig.app.callbacks.unsubscribe(id, { tenantId: 'acme' });
    await expect(rig.app.callbacks.unsubscribe(id, { tenantId: 'acme' })).rejects.toMatchObject({
      code: 'SUBSCRIPTION_NOT_FOUND',
    });
  });
});

test('RST-11 however many subscriptions there are, everybody is heard', async () => {
  const { courier, payloads } = receiver();
  const rig = await testApp({ tasks: [double], courier, work: { lease: '10m', poll: '1s' } });
  for (let n = 0; n < 1_001; n++)
    await rig.app.callbacks.subscribe({ url: URL_A, tenantId: 'aaa', tasks: ['other'] });
  await rig.app.callbacks.subscribe({ url: URL_A, tenantId: 'zzz' });
  const { job } = await rig.app.start(double, 4, { tenantId: 'zzz' });
  await rig.ended(job);
  await advanceUntil(rig.clock, () => payloads().length === 3);
  expect(await rig.app.callbacks.list()).toHaveLength(1_002);
  await rig.stop();
});

test('RST-11 a job whose log cannot be read holds up nobody else’s callbacks', async () => {
  const { courier, payloads } = receiver();
  const clock = fakeClock(T0);
  const store = memoryStore({ clock });
  let sick = '';
  const log: Store['log'] = async (jobId, page) => {
    const reply = await store.log(jobId, page);
    return jobId === sick ? { ...reply, rows: reply.rows.map((row) => ({ ...row, body: 'x' })) } : reply;
  };
  const rig = await testApp({ store: { ...store, log }, clock, tasks: [double], courier, work: false });
  await rig.app.callbacks.subscribe({ url: URL_A });
  sick = (await rig.app.start(double, 1)).job.id;
  const { job } = await rig.app.start(double, 2);
  await rig.app.work({ lease: '10m', poll: '1s' });
  await advanceUntil(clock, () => payloads().length === 3);
  expect(new Set(payloads().map(({ run_id }) => run_id))).toEqual(new Set([job.id]));
  expect(clock.now() - T0).toBeLessThan(5_000);
  sick = '';
  await advanceUntil(clock, () => payloads().length === 6, { atMost: '1h' });
  await rig.stop();
});
