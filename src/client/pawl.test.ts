import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { T0, testApp, type TestApp } from '../testkit/index.js';
import { pawl, schedule, task, type Json, type PawlError, type StandardSchema, type Task } from '../index.js';
import type { AnyTask } from './task.js';

/** A schema written by hand: an object with a name, and an amount that it reads into cents. */
const Order: StandardSchema<{ name: string; euros: string }, { name: string; cents: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const { name, euros } = (value ?? {}) as { name?: unknown; euros?: unknown };
      const issues = [];
      if (typeof name !== 'string') issues.push({ message: 'must be text', path: ['name'] });
      if (typeof euros !== 'string')
        issues.push({ message: 'must be an amount', path: [{ key: 'lines' }, 0, 'euros'] });
      if (issues.length > 0) return { issues };
      return { value: { name: name as string, cents: Number(euros) * 100 } };
    },
  },
};

const echo = task({ name: 'echo' }, ({ input }) => input);

async function appOf(...tasks: AnyTask[]): Promise<TestApp> {
  const rig = await testApp({ tasks });
  onTestFinished(() => rig.stop());
  return rig;
}

const failureOf = (promise: Promise<unknown>): Promise<PawlError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: PawlError) => error,
  );

describe('starting a job', () => {
  test('DEC-6 the same key and input find the job that is there, others are refused', async () => {
    const { app, store } = await appOf(echo);
    const first = await app.start(echo, { n: 1, m: 2 }, { idempotencyKey: 'k' });
    const again = await app.start(echo, { m: 2, n: 1 }, { idempotencyKey: 'k' });
    expect([first.idempotentHit, again.idempotentHit, again.job.id]).toEqual([false, true, first.job.id]);
    const error = await failureOf(app.start(echo, { n: 2 }, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({
      code: 'DUPLICATE',
      details: { jobId: first.job.id, conflictFields: ['input'] },
    });
    expect(error.message).toContain('differs in input');
    const scoped = await app.start(echo, { n: 2 }, { idempotencyKey: 'k', scope: 'other' });
    const tenant = await app.start(echo, { n: 3 }, { idempotencyKey: 'k', tenantId: 'acme' });
    expect([scoped.idempotentHit, tenant.idempotentHit]).toEqual([false, false]);
    const all = { tenantId: 'default', statuses: null, task: null, limit: 9, cursor: null };
    expect((await store.list(all)).rows).toHaveLength(2);
  });

  test('DEC-6 without a key one is made up, and no two starts are the same', async () => {
    const { app } = await appOf(echo);
    const [one, two] = await Promise.all([app.start(echo, 1), app.start(echo, 1)]);
    expect(one.job.id).not.toBe(two.job.id);
    expect((await one.job.status()).spec.idempotencyKey).toBe(one.job.id);
  });

  test('RUN-7 a missing trace id is made up once, in its form; one that is given is kept', async () => {
    const { app } = await appOf(echo);
    const { job } = await app.start(echo, 1);
    const { traceId } = (await job.status()).spec;
    expect(traceId).toMatch(new RegExp(`^trace-run-${job.id}-[0-9a-f-]{36}$`));
    const named = await app.start(echo, 1, { traceId: 'mine', traceparent: '00-aa-bb-01' });
    expect((await named.job.status()).spec).toMatchObject({ traceId: 'mine', traceparent: '00-aa-bb-01' });
  });

  test('a delay or a time to run at is kept to, and not both', async () => {
    const rig = await appOf(echo);
    const later = await rig.app.start(echo, 1, { delay: '2h' });
    const at = await rig.app.start(echo, 2, { runAt: new Date(T0 + 3_600_000) });
    expect(await later.job.why()).toMatchObject({ code: 'not_due', until: T0 + 7_200_000 });
    expect((await rig.ended(at.job, { atMost: 86_400_000 })).startedAt).toBeGreaterThanOrEqual(
      T0 + 3_600_000,
    );
    expect((await rig.ended(later.job, { atMost: 86_400_000 })).startedAt).toBeGreaterThanOrEqual(
      T0 + 7_200_000,
    );
    const both = rig.app.start(echo, 1, { delay: 1, runAt: 1 });
    expect(await failureOf(both)).toMatchObject({ code: 'INVALID_OPTION' });
  });

  test('many are started at once', async () => {
    const rig = await appOf(echo);
    const all = await rig.app.startMany(echo, [
      { input: 1 },
      { input: 2, options: { priority: 9 } },
      { input: 3 },
    ]);
    const results = [];
    for (const { job } of all) results.push((await rig.ended(job)).result);
    expect(results).toEqual(['1', '2', '3']);
  });

  test('an id of the caller’s own is taken, once', async () => {
    const { app } = await appOf(echo);
    expect((await app.start(echo, 1, { jobId: 'my-own-job-1' })).job.id).toBe('my-own-job-1');
    expect(await failureOf(app.start(echo, 1, { jobId: 'my-own-job-1' }))).toMatchObject({
      code: 'JOB_EXISTS',
    });
    expect(await failureOf(app.start(echo, 1, { jobId: 'short' }))).toMatchObject({ code: 'INVALID_OPTION' });
  });

  test('a result that is long in coming: RESULT_TIMEOUT; one that is given up on: the signal’s reason', async () => {
    const never = task({ name: 'never' }, ({ step }) => step.waitFor('never'));
    const rig = await appOf(never);
    const { job } = await rig.app.start(never, null);
    const late = rig.run(job.result({ timeout: '10s' }));
    expect(await failureOf(late)).toMatchObject({ code: 'RESULT_TIMEOUT', details: { status: 'waiting' } });
    const control = new AbortController();
    const waiting = job.result({ signal: control.signal });
    control.abort(new Error('enough'));
    await expect(rig.run(waiting)).rejects.toThrow('enough');
  });
});

describe('bad input', () => {
  const order = task({ name: 'order', input: Order }, ({ input }) => input.cents);

  test('INVALID_INPUT says where, and nothing is stored', async () => {
    const { app, store } = await appOf(order);
    const error = await failureOf(app.start(order, { name: 7, euros: null } as never));
    expect(error).toMatchObject({
      code: 'INVALID_INPUT',
      details: {
        issues: [
          { path: 'name', message: 'must be text' },
          { path: 'lines[0].euros', message: 'must be an amount' },
        ],
      },
    });
    expect(error.message).toContain(
      "the input of 'order' does not fit its schema: name: must be text; lines[0].euros:",
    );
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
  });

  test.each<[string, unknown]>([
    ['NOT_SERIALISABLE', 1n],
    ['NOT_SERIALISABLE', () => 1],
    ['PAYLOAD_TOO_LARGE', 'x'.repeat(1_048_600)],
    ['PAYLOAD_TOO_LARGE', JSON.parse('['.repeat(65) + ']'.repeat(65))],
  ])('%s: nothing is stored', async (code, input) => {
    const { app, store } = await appOf(echo);
    expect(await failureOf(app.start(echo, input))).toMatchObject({ code });
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
  });

  test.each([
    { priority: 1.5 },
    { tenantId: '' },
    { tenantId: 'x'.repeat(300) },
    { idempotencyKey: '' },
    { delay: 'soon' as '1s' },
    { delay: -1 },
    { runAt: new Date('nonsense') },
    { deadline: 0 },
    { queue: '\u0000' },
  ])('INVALID_OPTION: %j', async (options) => {
    const { app, store } = await appOf(echo);
    const error = await failureOf(app.start(echo, 1, options));
    expect(error.code).toBe('INVALID_OPTION');
    expect(error.message).toContain(Object.keys(options)[0]);
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
  });

  test('one bad input of many: none is stored', async () => {
    const { app, store } = await appOf(order);
    const some = [{ input: { name: 'a', euros: '1' } }, { input: { name: 'b' } as never }];
    expect(await failureOf(app.startMany(order, some))).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
  });

  test('a job whose input no longer fits its schema goes to the dead letters, without a retry', async () => {
    const loose = task({ name: 'order' }, () => 1);
    const rig = await testApp({ tasks: [order] });
    onTestFinished(() => rig.stop());
    const { job } = await rig.app.start(loose, { name: 1 });
    expect(await rig.ended(job)).toMatchObject({
      status: 'failed',
      retryCount: 0,
      failure: { code: 'INVALID_INPUT' },
    });
  });

  test('TASK_EXISTS: two tasks of one name and version', async () => {
    const opening = pawl({ store: 'memory:', tasks: [echo, task({ name: 'echo' }, () => 1)] });
    expect(await failureOf(opening)).toMatchObject({ code: 'TASK_EXISTS' });
    await appOf(
      echo,
      task({ name: 'echo', version: '2' }, () => 1),
    );
  });

  test.each([
    () => task({ name: '' }, () => 1),
    () => task({ name: 'x', timeout: 'soon' as '1s' }, () => 1),
    () => task({ name: 'x', concurrency: { key: () => 'k', limit: 0 } }, () => 1),
  ])('INVALID_OPTION: a task that makes no sense (%#)', (define) => {
    expect(define).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});

test('a schedule that makes no sense keeps the app from opening, with its code', async () => {
  const bad = schedule(echo, { id: 'bad', cron: 'never', input: 1 });
  const opening = pawl({ store: 'memory:', tasks: [echo], schedules: [bad] });
  expect(await failureOf(opening)).toMatchObject({
    code: 'TASK_INVALID_SCHEDULE',
    details: { field: 'cron' },
  });
});

test('RST-4 memory: warns once that nothing is kept', async () => {
  const warnings: string[] = [];
  const none = () => undefined;
  const log = { debug: none, info: none, warn: (text: string) => warnings.push(text), error: none };
  const app = await pawl({ store: 'memory:', log });
  await app.close();
  expect(warnings).toEqual(['persistent storage is not enabled: jobs are visible in this process only']);
});

test('types: what goes in follows the schema, what comes out is what JSON makes of it', async () => {
  const order = task({ name: 'order', input: Order }, async ({ input, step }) => {
    expectTypeOf(input).toEqualTypeOf<{ name: string; cents: number }>();
    const found = await step.run('find', () => ({ at: new Date(0), note: undefined as string | undefined }));
    expectTypeOf(found).toEqualTypeOf<{ at: string; note?: string }>();
    expectTypeOf(await step.waitFor<boolean>('ok')).toEqualTypeOf<boolean>();
    expectTypeOf(await step.waitFor<boolean>('ok', { timeout: '1s' })).toEqualTypeOf<boolean | undefined>();
    expectTypeOf(await step.call('echo', typed, { n: 1 })).toEqualTypeOf<{ at: string }>();
    return { at: new Date(0), tags: new Set<string>(), nested: [{ big: null as null | Date }] };
  });
  const typed = task<{ n: number }, { at: Date }>({ name: 'typed' }, () => ({
    at: new Date(0),
  }));
  expectTypeOf<Parameters<TestApp['app']['start']>[1]>().toEqualTypeOf<unknown>();
  expectTypeOf(order).toExtend<Task<{ name: string; euros: string }, unknown>>();
  type Result = Awaited<ReturnType<typeof order.definition.run>>;
  expectTypeOf<Result>().toBeUnknown();
  expectTypeOf<Json<{ a: Date; f: () => void; u?: number }>>().toEqualTypeOf<{ a: string; u?: number }>();
  expectTypeOf<Json<Map<string, number>>>().toEqualTypeOf<Record<string, never>>();
});
