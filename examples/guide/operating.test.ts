import * as api from '@opentelemetry/api';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTelemetry } from '../../src/client/open-telemetry.js';
import { schedule, task, verifyEvidenceFile } from '../../src/index.js';
import type { AlertSettings, HandlerContext, Pawl } from '../../src/index.js';
import { advanceUntil, testApp } from '../../src/testkit/index.js';

const report = task(
  { name: 'report' },
  ({ input }: HandlerContext<{ of: string }>) => `report of ${input.of}`,
);

test('schedules, declared and by hand', async () => {
  const nightly = schedule(report, {
    id: 'nightly-report',
    daily: '02:30',
    zone: 'Europe/Berlin',
    overlap: 'skip', // while the one before still runs: allow, skip, queue or cancel_running
    catchUp: 'latest', // after a time in which nobody worked: all, latest or none
    input: { of: 'sales' },
  });
  const { app, clock, stop } = await testApp({ tasks: [report], schedules: [nightly] });

  await app.schedules.put(schedule(report, { id: 'hourly-report', every: '1h', input: { of: 'stock' } }));
  await app.schedules.pause('hourly-report');
  await app.schedules.resume('hourly-report');
  const job = await app.schedules.trigger('hourly-report'); // Out of turn, now.

  expect(await advanceUntil(clock, job.result())).toBe('report of stock');
  expect((await app.schedules.list()).map((one) => one.scheduleId)).toEqual([
    'hourly-report',
    'nightly-report',
  ]);
  await stop();
});

test('limits', async () => {
  const sync = task(
    {
      name: 'sync',
      concurrency: { key: (input) => input.customer, limit: 2 }, // of one customer's jobs, two run at once
      rateLimit: { limit: 100, per: '1m' }, // of all of them, a hundred begin within any minute
    },
    async ({ input }: HandlerContext<{ customer: string }>) => input.customer,
  );
  const fair = task(
    {
      name: 'fair',
      concurrency: { perTenant: 10 }, // or { key, limit, perTenant: 10 }: both hold
      rateLimit: { limit: 100, per: '1m', perTenant: true }, // a hundred for each tenant
    },
    async () => 'done',
  );
  const { app, clock, stop } = await testApp({ tasks: [sync, fair] });
  const { job } = await app.start(sync, { customer: 'acme' });
  expect(await advanceUntil(clock, job.result())).toBe('acme');
  const other = await app.start(fair, null);
  expect(await advanceUntil(clock, other.job.result())).toBe('done');
  await stop();
});

test('dead letters', async () => {
  let mended = false;
  const fragile = task({ name: 'fragile', retry: { maxRetries: 0 } }, () => {
    if (!mended) throw new Error('broken');
    return 'done';
  });
  const { app, clock, stop } = await testApp({ tasks: [fragile] });
  for (let n = 0; n < 3; n++) {
    const { job } = await app.start(fragile, null);
    await advanceUntil(clock, async () => (await job.status()).finishedAt !== null);
  }
  await lookAfter(app, () => (mended = true));
  expect(await app.deadLetters.list()).toEqual([]);
  await stop();
});

async function lookAfter(app: Pawl, mend: () => void): Promise<void> {
  const [first, second] = await app.deadLetters.list({ task: 'fragile' });
  if (!first || !second) throw new Error('there should be some');
  mend();
  const job = await app.deadLetters.requeue(first.dlqId, { by: 'ann', keepRecorded: true });
  await app.deadLetters.askDiscard(second.dlqId, { by: 'ann', reason: 'test data' });
  await app.deadLetters.approveDiscard(second.dlqId, { by: 'bob' }); // Another person, or it is refused.
  await app.deadLetters.requeueAll({ by: 'ann', errorCode: 'TASK_EXECUTION_FAILED', perSecond: 50 });
  expect(job.id).not.toBe(first.jobId);
}

test('giving up a job', async () => {
  const print = task({ name: 'print' }, () => new Promise(() => undefined));
  const { app, clock, stop } = await testApp({ tasks: [print] });
  const { job: stuck } = await app.start(print, null);
  await advanceUntil(clock, async () => (await stuck.status()).status === 'running');

  await app.abandon(stuck.id, { by: 'ann', reason: 'the printer is gone' });

  const [letter] = await app.deadLetters.list({ errorCode: 'ABANDONED' });
  expect(letter?.jobId).toBe(stuck.id);
  await stop();
});

test('evidence', async () => {
  const { app, clock, stop } = await testApp({ tasks: [report] });
  const { job } = await app.start(report, { of: 'sales' });
  await advanceUntil(clock, job.result());
  const folder = await mkdtemp(join(tmpdir(), 'pawl-evidence-'));
  const path = join(folder, 'evidence.jsonl');

  const evidence = app.evidence.export(job.id);
  await writeFile(path, evidence);
  const { holds, problem } = await verifyEvidenceFile(path, { head: evidence.head });

  expect({ holds, problem }).toEqual({ holds: true, problem: null });

  const { broken } = await app.evidence.verifyAll();

  expect(broken).toEqual([]);
  await rm(folder, { recursive: true });
  await stop();
});

test('callbacks', async () => {
  const heard: string[] = [];
  const courier = {
    check: async () => undefined,
    deliver: async ({ body }: { body: string }) => (heard.push(body), { status: 204 }),
  };
  const { app, clock, stop } = await testApp({ tasks: [report], courier });

  const { secret } = await app.callbacks.subscribe({
    url: 'https://example.com/hooks/pawl',
    contract: 'jobs',
  });

  expect(secret).toMatch(/^whsec_/);
  await app.start(report, { of: 'sales' });
  await advanceUntil(clock, () => heard.length === 3);
  await stop();
});

test('alerts', async () => {
  const alerts: AlertSettings = {
    retryingShare: { share: 0.1, atLeast: 100, for: '10m' },
    dlqGrowth: { atLeast: 20 }, // what is left out stays as it is
    effectLateResult: { for: '3d' },
    transitionRefused: false, // never raised
    storeUnavailable: { tenantId: 'operations' }, // the store is everybody's: whom to tell
    keep: '90d', // how long cleared ones can be read
  };
  const heard: { event: string; rule: string; value: number }[] = [];
  const courier = {
    check: async () => undefined,
    deliver: async ({ body }: { body: string }) => {
      heard.push(JSON.parse(body) as (typeof heard)[number]);
      return { status: 204 };
    },
  };
  const broken = task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
    throw new Error('broken');
  });
  const work = { poll: '10s' } as const;
  const { app, clock, stop } = await testApp({ tasks: [broken], courier, alerts, work });
  const { raised } = await listen(app);
  expect(raised).toEqual([]);

  for (let n = 0; n < 20; n++) await app.start(broken, n);
  await advanceUntil(clock, () => heard.length === 2);
  expect(heard).toMatchObject([
    { event: 'alert.raised', rule: 'dlq_growth', value: 20 },
    { event: 'alert.cleared', rule: 'dlq_growth' },
  ]);
  expect((await listen(app)).over).toMatchObject([{ rule: 'dlq_growth', state: 'cleared' }]);
  await stop();
});

async function listen(app: Pawl) {
  await app.callbacks.subscribe({ url: 'https://example.com/hooks/alerts', events: ['alert'] }); // or ['status', 'alert']
  const raised = await app.alerts.list({ tenantId: 'default' });
  const over = await app.alerts.list({ tenantId: 'default', state: 'cleared' });
  return { raised, over };
}

test('traces', async () => {
  const { app, ended, stop } = await testApp({ tasks: [report], tracing: openTelemetry(api) });

  const { job } = await app.start(report, { of: 'sales' });
  expect((await ended(job)).status).toBe('succeeded');
  await stop();
});
