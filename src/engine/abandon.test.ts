import { describe, expect, test } from 'vitest';
import { task } from '../client/task.js';
import { advanceUntil, Link } from '../testkit/index.js';
import type { JobHandle } from '../client/job-handle.js';
import type { Status } from '../kernel/index.js';
import { onEveryStore } from '../../test/on-every-store.js';

const WHY = { by: 'ann', reason: 'never comes to its end' };

const is = (job: Pick<JobHandle, 'status'>, status: Status) => async () =>
  (await job.status()).status === status;

onEveryStore((fresh) => {
  describe('abandon', () => {
    test('DEC-4 JOB-7 a running job: its handler is aborted, its result refused, and its dead letter can be requeued', async () => {
      let runs = 0;
      let aborted = false;
      let finish: (value: string) => void = () => undefined;
      const stuck = task({ name: 'stuck' }, ({ signal }) => {
        runs += 1;
        if (runs > 1) return 'done';
        signal.addEventListener('abort', () => (aborted = true));
        return new Promise<string>((resolve) => (finish = resolve));
      });
      const rig = await fresh.app({ tasks: [stuck] });
      const { job } = await rig.app.start(stuck, { n: 1 });
      await advanceUntil(rig.clock, () => runs === 1);
      await rig.app.abandon(job.id, WHY);
      // Long before the next heartbeat.
      await advanceUntil(rig.clock, () => aborted, { atMost: '10s' });
      const failed = await job.status();
      expect(failed).toMatchObject({
        status: 'failed',
        failure: { code: 'ABANDONED', message: WHY.reason, retryable: false, class: 'permanent' },
        deadLetter: { from: 'running', reason: 'abandoned' },
        worker: null,
      });
      finish('too late');
      await rig.idle();
      expect(await job.status()).toEqual(failed);
      await expect(job.result()).rejects.toMatchObject({ code: 'JOB_FAILED' });

      const items = await rig.app.deadLetters.list();
      expect(items).toMatchObject([
        {
          jobId: job.id,
          errorCode: 'ABANDONED',
          errorClass: 'permanent',
          payload: '{"n":1}',
          status: 'open',
        },
      ]);
      const next = await rig.app.deadLetters.requeue(items[0]?.dlqId ?? '', { by: 'ann' });
      expect(await rig.ended(next)).toMatchObject({
        status: 'succeeded',
        result: '"done"',
        input: '{"n":1}',
      });
    });

    test('DEC-4 a retrying job is not tried again', async () => {
      let runs = 0;
      const flaky = task({ name: 'flaky' }, () => {
        runs += 1;
        throw new Error('try again');
      });
      const rig = await fresh.app({ tasks: [flaky] });
      const { job } = await rig.app.start(flaky, null);
      await advanceUntil(rig.clock, is(job, 'retrying'));
      const before = runs;
      await rig.app.abandon(job.id, WHY);
      expect(await job.status()).toMatchObject({
        status: 'failed',
        nextRetryAt: null,
        failure: { code: 'ABANDONED', message: WHY.reason },
        deadLetter: { from: 'retrying', reason: 'abandoned' },
      });
      expect(await rig.app.deadLetters.list({ errorCode: 'ABANDONED' })).toHaveLength(1);
      rig.clock.advance(3_600_000);
      await rig.idle();
      expect(runs).toBe(before);
    });

    test('DEC-4 an interrupted job is not resumed', async () => {
      const cluster = await fresh.cluster();
      const stuck = task({ name: 'stuck' }, () => new Promise(() => undefined));
      const other = task({ name: 'other' }, () => null);
      const link = new Link(cluster.store);
      const victim = await cluster.join([stuck], {}, link.store);
      const { job: started } = await victim.app.start(stuck, null);
      await advanceUntil(cluster.clock, is(started, 'running'));
      link.down = true;
      // Sees to recovery, and does not have the task.
      const { app } = await cluster.join([other]);
      const job = app.job(started.id);
      await advanceUntil(cluster.clock, is(job, 'interrupted'));
      await app.abandon(job.id, WHY);
      expect(await job.status()).toMatchObject({
        status: 'failed',
        failure: { code: 'ABANDONED', message: WHY.reason },
        deadLetter: { from: 'interrupted', reason: 'abandoned' },
      });
      expect(await app.deadLetters.list({ errorCode: 'ABANDONED' })).toHaveLength(1);
      link.down = false;
    });

    test('DEC-4 children of an abandoned job are cancelled with it', async () => {
      const child = task({ name: 'child' }, ({ step }) => step.waitFor('never'));
      let hasStarted = false;
      const parent = task({ name: 'parent' }, async ({ step }) => {
        void step.call('child', child, null);
        await step.run('other', () => {
          hasStarted = true;
          return new Promise(() => undefined);
        });
      });
      const rig = await fresh.app({ tasks: [parent, child] });
      const { job } = await rig.app.start(parent, null);
      await advanceUntil(rig.clock, async () => hasStarted && (await rig.app.counts()).waiting === 1);
      await rig.app.abandon(job.id, WHY);
      await advanceUntil(rig.clock, async () => (await rig.app.counts()).cancelled === 1, { atMost: '1m' });
      expect(await rig.app.counts()).toMatchObject({ failed: 1, cancelled: 1 });
    });

    test('DEC-7 what has not begun, only waits or has ended is refused, and nothing changes; three in a row are an alert', async () => {
      const quick = task({ name: 'quick' }, () => 'done');
      const patient = task({ name: 'patient' }, ({ step }) => step.waitFor('never'));
      const rig = await fresh.app({ tasks: [quick, patient] });
      const nobodys = task({ name: 'nobodys' }, () => null);
      const { job: succeeded } = await rig.app.start(quick, null);
      await rig.ended(succeeded);
      const { job: waiting } = await rig.app.start(patient, null);
      await advanceUntil(rig.clock, is(waiting, 'waiting'));
      const { job: queued } = await rig.app.start(nobodys, null);
      const { job: scheduled } = await rig.app.start(nobodys, null, { delay: '9d' });
      for (const [status, job] of Object.entries({ succeeded, waiting, queued, scheduled })) {
        const before = await job.status();
        expect(before.status).toBe(status);
        await expect(rig.app.abandon(job.id, WHY)).rejects.toMatchObject({
          code: 'INVALID_TRANSITION',
          details: { from: status },
        });
        expect(await job.status()).toEqual(before);
      }
      expect(await rig.app.deadLetters.list()).toEqual([]);
      expect(await rig.app.alerts.list()).toMatchObject([{ rule: 'transition_refused' }]);
      await expect(rig.app.abandon('job_nobody', WHY)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
    });

    test('DEC-7 of two operators at once one is told that it was done', async () => {
      const flaky = task({ name: 'flaky' }, () => {
        throw new Error('try again');
      });
      const rig = await fresh.app({ tasks: [flaky] });
      const { job } = await rig.app.start(flaky, null);
      await advanceUntil(rig.clock, is(job, 'retrying'));
      const both = await Promise.allSettled([
        rig.app.abandon(job.id, WHY),
        rig.app.abandon(job.id, { by: 'bob', reason: 'I too' }),
      ]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'INVALID_TRANSITION' },
      });
      expect(await rig.app.deadLetters.list()).toHaveLength(1);
    });

    test.each([
      ['a blank one', ' \t'],
      ['none', ''],
      ['one that is too long', 'x'.repeat(1_001)],
    ])('JOB-7 it takes a reason: %s is refused, and nothing changes', async (_what, reason) => {
      const flaky = task({ name: 'flaky' }, () => {
        throw new Error('try again');
      });
      const rig = await fresh.app({ tasks: [flaky] });
      const { job } = await rig.app.start(flaky, null);
      await advanceUntil(rig.clock, is(job, 'retrying'));
      const before = await job.status();
      await expect(rig.app.abandon(job.id, { by: 'ann', reason })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        details: { option: 'reason' },
      });
      expect(await job.status()).toEqual(before);
      await rig.app.abandon(job.id, { by: 'ann', reason: 'x'.repeat(1_000) });
      expect((await job.status()).failure?.message).toHaveLength(1_000);
    });
  });
});
