import { describe, expect, onTestFinished, test } from 'vitest';
import { httpCourier } from '../client/http-courier.js';
import { task } from '../client/task.js';
import { advanceUntil, testApp, type TestApp } from '../testkit/index.js';
import { onEveryStore, type Fresh } from '../../test/on-every-store.js';
import { listAudit } from './audit.js';
import { Engine } from './engine.js';
import { prng } from '../testkit/prng.js';

let works = false;
const fragile = task(
  { name: 'fragile', queue: 'q', priority: 7, retry: { maxRetries: 0 }, deadline: '1h' },
  () => {
    if (works) return 'mended';
    throw Object.assign(new Error('broken'), { code: 'E_BROKEN' });
  },
);

/** An app with dead letters of so many jobs. */
async function failed(fresh: Fresh, jobs: number): Promise<TestApp & { dlqIds: string[] }> {
  works = false;
  const rig = await fresh.app({ tasks: [fragile] });
  for (let n = 0; n < jobs; n++) await rig.ended((await rig.app.start(fragile, { n })).job);
  const items = await rig.app.deadLetters.list();
  return { ...rig, dlqIds: items.map(({ dlqId }) => dlqId) };
}

onEveryStore((fresh) => {
  describe('requeue', () => {
    test('JOB-8 DEC-4 DEC-13 a new job with the old one’s settings, input and trace, linked to its dead letter', async () => {
      const rig = await failed(fresh, 1);
      const [dlqId = ''] = rig.dlqIds;
      const before = await rig.app.job((await rig.app.deadLetters.get(dlqId)).jobId).status();
      works = true;
      const job = await rig.app.deadLetters.requeue(dlqId, { by: 'ann' });
      const after = await rig.ended(job);
      expect(after).toMatchObject({
        status: 'succeeded',
        retryCount: 0,
        input: '{"n":0}',
        result: '"mended"',
      });
      const { jobId, taskId, requeuedFrom, queue, priority, traceId } = after.spec;
      expect([queue, priority, traceId, requeuedFrom]).toEqual(['q', 7, before.spec.traceId, dlqId]);
      expect([jobId === before.spec.jobId, taskId === jobId]).toEqual([false, true]);
      expect(await rig.app.job(before.spec.jobId).status()).toEqual(before);
      expect(await rig.app.deadLetters.get(dlqId)).toMatchObject({
        status: 'requeued',
        requeuedAs: jobId,
        trail: [{ action: 'requeue', by: 'operator:ann', reason: null }],
      });
    });

    test('JOB-8 only from open, else DLQ_REQUEUE_CONFLICT; of two operators at once one is refused', async () => {
      const rig = await failed(fresh, 1);
      const [dlqId = ''] = rig.dlqIds;
      const both = await Promise.allSettled([
        rig.app.deadLetters.requeue(dlqId, { by: 'ann' }),
        rig.app.deadLetters.requeue(dlqId, { by: 'bob' }),
      ]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'DLQ_REQUEUE_CONFLICT' },
      });
      const late = rig.app.deadLetters.requeue(dlqId, { by: 'eve' });
      await expect(late).rejects.toMatchObject({ code: 'DLQ_REQUEUE_CONFLICT' });
      await expect(rig.app.deadLetters.requeue('dlq_nobody', { by: 'eve' })).rejects.toMatchObject({
        code: 'DLQ_NOT_FOUND',
      });
      const { rows } = await rig.store.list({
        tenantId: null,
        statuses: null,
        task: null,
        limit: 9,
        cursor: null,
      });
      expect(rows).toHaveLength(2);
    });

    test('JOB-8 in bulk, by filter, at a rate; a dry run changes nothing', async () => {
      const rig = await failed(fresh, 5);
      const ask = { by: 'ann', errorCode: 'E_BROKEN', task: 'fragile' };
      expect(await rig.app.deadLetters.requeueAll({ ...ask, dryRun: true })).toEqual({
        requeued: 5,
        passedOver: 0,
      });
      expect(await rig.app.deadLetters.requeueAll({ ...ask, errorCode: 'E_OTHER' })).toEqual({
        requeued: 0,
        passedOver: 0,
      });
      expect(await rig.app.deadLetters.list()).toHaveLength(5);
      works = true;
      const startedAt = rig.clock.now();
      const progress: number[] = [];
      const done = await rig.run(
        rig.app.deadLetters.requeueAll({ ...ask, perSecond: 2, onProgress: (count) => progress.push(count) }),
      );
      expect([done, progress]).toEqual([{ requeued: 5, passedOver: 0 }, [1, 2, 3, 4, 5]]);
      expect(rig.clock.now() - startedAt).toBeGreaterThanOrEqual(2_000);
      expect(await rig.app.deadLetters.list()).toEqual([]);
    });
  });

  describe('discard', () => {
    test('JOB-9 one asks with a reason, another agrees; the item stays as a tombstone with its trail', async () => {
      const rig = await failed(fresh, 1);
      const [dlqId = ''] = rig.dlqIds;
      const { deadLetters } = rig.app;
      await expect(deadLetters.approveDiscard(dlqId, { by: 'bob' })).rejects.toMatchObject({
        code: 'APPROVAL_REQUIRED',
      });
      await expect(deadLetters.askDiscard(dlqId, { by: 'ann', reason: '  ' })).rejects.toMatchObject({
        code: 'APPROVAL_REQUIRED',
      });
      await expect(deadLetters.askDiscard(dlqId, { by: ' ', reason: 'test data' })).rejects.toMatchObject({
        code: 'APPROVAL_REQUIRED',
      });
      expect(await deadLetters.askDiscard(dlqId, { by: 'ann', reason: 'test data' })).toMatchObject({
        status: 'open',
      });
      await expect(deadLetters.approveDiscard(dlqId, { by: 'ann' })).rejects.toMatchObject({
        code: 'APPROVAL_REQUIRED',
      });
      await expect(deadLetters.approveDiscard(dlqId, { by: '' })).rejects.toMatchObject({
        code: 'APPROVAL_REQUIRED',
      });
      await deadLetters.approveDiscard(dlqId, { by: 'bob' });
      expect(await deadLetters.get(dlqId)).toMatchObject({
        status: 'discarded',
        trail: [
          { action: 'ask_discard', by: 'operator:ann', reason: 'test data' },
          { action: 'discard', by: 'operator:bob', reason: 'test data' },
        ],
      });
      const lost = { code: 'DLQ_REQUEUE_CONFLICT' };
      await expect(deadLetters.requeue(dlqId, { by: 'eve' })).rejects.toMatchObject(lost);
      const again = deadLetters.askDiscard(dlqId, { by: 'eve', reason: 'again' });
      await expect(again).rejects.toMatchObject(lost);
    });

    test('JOB-9 JOB-8 a requeue and a discard at once: one of them', async () => {
      const rig = await failed(fresh, 1);
      const [dlqId = ''] = rig.dlqIds;
      await rig.app.deadLetters.askDiscard(dlqId, { by: 'ann', reason: 'test data' });
      const both = await Promise.allSettled([
        rig.app.deadLetters.requeue(dlqId, { by: 'eve' }),
        rig.app.deadLetters.approveDiscard(dlqId, { by: 'bob' }),
      ]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    });

    test('JOB-9 both actions leave an audit record: who, when, why', async () => {
      const rig = await failed(fresh, 1);
      const [dlqId = ''] = rig.dlqIds;
      await rig.app.deadLetters.askDiscard(dlqId, { by: 'ann', reason: 'test data' });
      rig.clock.advance(1);
      await rig.app.deadLetters.requeue(dlqId, { by: 'bob', reason: 'mended' });
      const none = () => undefined;
      const log = { debug: none, info: none, warn: none, error: none };
      const engine = new Engine({
        store: rig.store,
        clock: rig.clock,
        random: prng(9),
        log,
        courier: httpCourier({ allowPrivate: false }),
      });
      expect(await listAudit(engine, { tenantId: 'default', limit: 9 })).toMatchObject([
        {
          action: 'ask_discard',
          subject: dlqId,
          by: 'operator:ann',
          at: rig.clock.now() - 1,
          reason: 'test data',
        },
        { action: 'requeue', subject: dlqId, by: 'operator:bob', at: rig.clock.now(), reason: 'mended' },
      ]);
    });
  });
});

test('JOB-8 in bulk, what was there when it was asked for: what fails again waits for the next time', async () => {
  works = false;
  // More than a page of them.
  const rig = await testApp({ tasks: [fragile] });
  onTestFinished(() => rig.stop());
  await rig.app.startMany(
    fragile,
    Array.from({ length: 250 }, () => ({ input: null })),
  );
  const failedSoFar = async () => (await rig.app.counts()).failed ?? 0;
  await advanceUntil(rig.clock, async () => (await failedSoFar()) === 250);
  const stop = new AbortController();
  const done = await rig.run(
    rig.app.deadLetters.requeueAll({
      by: 'ann',
      perSecond: 500,
      signal: stop.signal,
      onProgress: (count) => count > 250 && stop.abort(),
    }),
  );
  expect(done).toEqual({ requeued: 250, passedOver: 0 });
  await advanceUntil(rig.clock, async () => (await failedSoFar()) === 500);
  expect(await rig.app.deadLetters.list({ limit: 500 })).toHaveLength(250);
});
