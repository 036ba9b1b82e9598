import { deepStrictEqual, equal } from 'node:assert/strict';
import type { JobSpec } from '../../kernel/index.js';
import { aFailure, aFatalFailure, aWait, command } from '../sample-commands.js';
import { T0 } from '../sample-job.js';
import type { Rig, Topic } from './rig.js';

export const tallies: Topic = {
  name: 'tallies',
  cases: {
    'retrying jobs are counted by tenant, whether their time has come or not': async (rig) => {
      for (const jobId of ['job_tally_1', 'job_tally_2']) await retryingJob(rig, jobId);
      await retryingJob(rig, 'job_tally_3', { tenantId: 'globex' });
      await rig.create('job_tally_4', { tenantId: 'initech' });
      const all = [
        { tenantId: 'acme', count: 2 },
        { tenantId: 'globex', count: 1 },
      ];
      deepStrictEqual((await rig.store.retrying({ atLeast: 1 })).tenants, all);
      deepStrictEqual((await rig.store.retrying({ atLeast: 2 })).tenants, all.slice(0, 1));
      deepStrictEqual((await rig.store.retrying({ atLeast: 3 })).tenants, []);
      rig.clock.advance(3_600_000);
      deepStrictEqual((await rig.store.retrying({ atLeast: 1 })).tenants, all);
      equal((await rig.claim('worker-b')).jobs.length, 4);
      deepStrictEqual((await rig.store.retrying({ atLeast: 1 })).tenants, []);
    },
    'every job that has not ended is counted once, wherever it stands, up to the limit': async (rig) => {
      const live = async (tenantId = 'acme', atMost = 100) =>
        (await rig.store.countLive({ tenantId, atMost })).count;
      equal(await live(), 0);
      const waits = await rig.running('job_live_waiting');
      await rig.give(
        'job_live_waiting',
        command('begin-wait', { attemptId: waits.attemptId ?? '', waits: [aWait({ expiresAt: null })] }),
      );
      await retryingJob(rig, 'job_live_retrying');
      const lost = await rig.running('job_live_interrupted');
      await rig.give(
        'job_live_interrupted',
        command('interrupt', { attemptId: lost.attemptId ?? '', cause: { reason: 'drained' } }),
      );
      equal(await live(), 3);
      await rig.create('job_live_scheduled', { scheduledAt: T0 + 60_000 });
      await rig.create('job_live_held', { scheduledAt: T0 + 60_000 });
      await rig.store.hold({ jobIds: ['job_live_held', 'job_live_interrupted'], reason: 'r', by: 'b' });
      await rig.running('job_live_running');
      await rig.create('job_live_queued');
      await rig.create('job_live_mail', { task: 'mail' });
      await rig.create('job_live_urgent', { task: 'urgent', queue: 'fast' });
      await rig.create('job_live_globex', { tenantId: 'globex' });
      equal(await live(), 9);
      deepStrictEqual([await live('acme', 4), await live('acme', 9), await live('globex')], [4, 9, 1]);

      const done = await rig.running('job_live_done', { task: 'done' });
      equal(await live(), 10);
      await rig.give('job_live_done', command('complete', { attemptId: done.attemptId ?? '' }));
      for (const jobId of ['job_live_waiting', 'job_live_queued', 'job_live_held'])
        await rig.give(jobId, command('cancel'));
      equal(await live(), 6);
      rig.clock.advance(3_600_000);
      equal(await live(), 6);
    },
    'dead letters are counted by tenant and by when they were made': async (rig) => {
      const made: number[] = [];
      for (const [jobId, tenantId] of [
        ['job_entered_1', 'acme'],
        ['job_entered_2', 'acme'],
        ['job_entered_3', 'globex'],
      ] as const) {
        const { attemptId } = await rig.running(jobId, { tenantId });
        const now = rig.clock.now();
        made.push(now);
        await rig.give(
          jobId,
          command('fail-attempt', { now, attemptId: attemptId ?? '', failure: aFatalFailure }),
        );
        rig.clock.advance(10);
      }
      const [first = 0, , third = 0] = made;
      const entered = async (from: number, until: number, atLeast = 1) =>
        (await rig.store.dlqEntered({ from, until, atLeast })).tenants.map(
          ({ tenantId, count }) => `${tenantId} ${count}`,
        );
      deepStrictEqual(await entered(first, third + 1), ['acme 2', 'globex 1']);
      deepStrictEqual(await entered(first, third), ['acme 2']);
      deepStrictEqual(await entered(first + 1, third + 1), ['acme 1', 'globex 1']);
      deepStrictEqual(await entered(first, third + 1, 2), ['acme 2']);
      deepStrictEqual(await entered(third + 1, third + 9), []);
    },
  },
};

/** A job that failed once, and will be tried again. */
async function retryingJob(rig: Rig, jobId: string, spec: Partial<JobSpec> = {}): Promise<void> {
  const { attemptId } = await rig.running(jobId, spec);
  await rig.give(jobId, command('fail-attempt', { attemptId: attemptId ?? '', failure: aFailure }));
}
