import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { laneOf } from '../../kernel/index.js';
import { command } from '../sample-commands.js';
import { aJobSpec } from '../sample-job.js';
import type { Topic } from './rig.js';

const idsOf = (jobs: readonly { readonly spec: { readonly jobId: string } }[]): string[] =>
  jobs.map(({ spec }) => spec.jobId);

export const claims: Topic = {
  name: 'claims',
  cases: {
    'a claimed job is leased to its worker and claimed by no other': async (rig) => {
      await rig.create('job_claim_1');
      const first = await rig.claim('worker-a');
      const second = await rig.claim('worker-b');
      deepStrictEqual(idsOf(first.jobs), ['job_claim_1']);
      deepStrictEqual(second.jobs, []);
      const { job } = await rig.load('job_claim_1');
      deepStrictEqual(job, first.jobs[0]);
      deepStrictEqual(job.worker, rig.worker('worker-a'));
    },
    'two connections that claim at once share the jobs': async (rig) => {
      for (let i = 0; i < 40; i++) await rig.create(`job_race_${i}`);
      const other = await rig.connect();
      const claimed = await Promise.all([
        rig.claim('worker-a', { limit: 25 }),
        rig.claim('worker-b', { limit: 25, store: other }),
        rig.claim('worker-c', { limit: 25 }),
      ]);
      const ids = claimed.flatMap(({ jobs }) => idsOf(jobs));
      equal(ids.length, 40);
      equal(new Set(ids).size, 40);
    },
    'a claim takes a job as another connection left it': async (rig) => {
      await rig.create('job_left_1');
      const other = await rig.connect();
      const { jobs } = await rig.claim('worker-b', { store: other });
      const held = { attemptId: jobs[0]?.attemptId ?? '' };
      const failed = await rig.prepare('job_left_1', command('fail-attempt', held), held);
      await other.commit([failed]);
      rig.clock.advance(60_000);
      const [job] = (await rig.claim('worker-a')).jobs;
      equal(job?.retryCount, 1);
      deepStrictEqual((await rig.load('job_left_1')).job, job);
    },
    'what is not due, past its deadline or waiting is left': async (rig) => {
      const now = rig.clock.now();
      await rig.create('job_later_1', { scheduledAt: now + 1_000 });
      await rig.create('job_dead_1', { deadlineAt: now + 500 });
      const { attemptId } = await rig.running('job_waits_1');
      await rig.give('job_waits_1', command('begin-wait', { attemptId: attemptId ?? '' }));
      const again = await rig.load('job_dead_1');
      equal(again.job.status, 'running');
      await rig.give(
        'job_dead_1',
        command('interrupt', { attemptId: again.job.attemptId ?? '', cause: { reason: 'drained' } }),
      );
      rig.clock.advance(500);
      deepStrictEqual(idsOf((await rig.claim('worker-b')).jobs), []);
      rig.clock.advance(500);
      deepStrictEqual(idsOf((await rig.claim('worker-b')).jobs), ['job_later_1']);
    },
    'priority goes first, then what has been due for longest': async (rig) => {
      const now = rig.clock.now();
      await rig.create('job_order_1', { scheduledAt: now - 1 });
      await rig.create('job_order_2', { scheduledAt: now - 2 });
      await rig.create('job_order_3', { priority: 5 });
      deepStrictEqual(idsOf((await rig.claim('worker-a')).jobs), [
        'job_order_3',
        'job_order_2',
        'job_order_1',
      ]);
    },
    'a job whose task or version no worker knows is left alone': async (rig) => {
      await rig.create('job_lane_1', { task: 'unknown' });
      await rig.create('job_lane_2', { version: '2' });
      await rig.create('job_lane_3', { queue: 'slow' });
      deepStrictEqual((await rig.claim('worker-a')).jobs, []);
      const lanes = [laneOf(aJobSpec({ version: '2' })), laneOf(aJobSpec({ queue: 'slow' }))];
      deepStrictEqual(idsOf((await rig.claim('worker-a', { lanes })).jobs).toSorted(), [
        'job_lane_2',
        'job_lane_3',
      ]);
    },
    'JOB-14 tenants take turns: a noisy one cannot starve the rest': async (rig) => {
      for (let i = 0; i < 50; i++) await rig.create(`job_noisy_${i}`, { tenantId: 'noisy' });
      await rig.create('job_quiet_1', { tenantId: 'quiet' });
      await rig.create('job_small_1', { tenantId: 'small' });
      const { jobs, lastTenant } = await rig.claim('worker-a', { limit: 4 });
      const tenants = jobs.map(({ spec }) => spec.tenantId).toSorted();
      deepStrictEqual(tenants, ['noisy', 'noisy', 'quiet', 'small']);
      const next = await rig.claim('worker-a', { limit: 4, afterTenant: lastTenant });
      equal(next.jobs.length, 4);
    },
    'a claim for one tenant takes nobody else’s, and is not held up by them': async (rig) => {
      for (let i = 0; i < 20; i++) await rig.create(`job_other_${i}`, { tenantId: 'a' });
      for (let i = 0; i < 20; i++) await rig.create(`job_others_${i}`, { tenantId: 'z' });
      for (let i = 0; i < 3; i++) await rig.create(`job_own_${i}`, { tenantId: 'm' });
      for (const afterTenant of ['', 'm', 'z']) {
        const { jobs } = await rig.claim('worker-a', { limit: 1, tenantId: 'm', afterTenant });
        deepStrictEqual(
          jobs.map(({ spec }) => spec.tenantId),
          ['m'],
        );
      }
      deepStrictEqual((await rig.claim('worker-a', { tenantId: 'm' })).jobs, []);
      equal((await rig.claim('worker-a', { limit: 50 })).jobs.length, 40);
    },
    'the turn goes on where the last claim ended': async (rig) => {
      for (const tenantId of ['a', 'b', 'c']) {
        for (let i = 0; i < 3; i++) await rig.create(`job_turn_${tenantId}${i}`, { tenantId });
      }
      const order: string[] = [];
      let afterTenant = '';
      for (let i = 0; i < 6; i++) {
        const { jobs, lastTenant } = await rig.claim('worker-a', { limit: 1, afterTenant });
        order.push(jobs[0]?.spec.tenantId ?? '');
        afterTenant = lastTenant;
      }
      deepStrictEqual(order, ['a', 'b', 'c', 'a', 'b', 'c']);
    },
    'a dead incarnation claims nothing': async (rig) => {
      await rig.claim('worker-a');
      rig.clock.advance(30_000);
      await rig.store.orphans({ limit: 10 });
      await rig.create('job_claim_2');
      const reply = await rig.claim('worker-a');
      equal(reply.alive, false);
      deepStrictEqual(reply.jobs, []);
      ok((await rig.claim('worker-b')).alive);
    },
  },
};
