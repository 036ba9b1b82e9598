import { deepStrictEqual, equal } from 'node:assert/strict';
import { laneOf } from '../../kernel/index.js';
import { command } from '../sample-commands.js';
import { aJobSpec } from '../sample-job.js';
import type { Rig, Topic } from './rig.js';

const claimedIds = async (rig: Rig, options: Parameters<Rig['claim']>[1] = {}): Promise<string[]> =>
  (await rig.claim('worker-a', options)).jobs.map(({ spec }) => spec.jobId);

async function complete(rig: Rig, jobId: string): Promise<void> {
  const { job } = await rig.load(jobId);
  await rig.give(jobId, command('complete', { attemptId: job.attemptId ?? '' }));
}

export const limits: Topic = {
  name: 'limits',
  cases: {
    'no more jobs of one concurrency key run than its limit allows, others pass them by': async (rig) => {
      for (let i = 1; i <= 4; i++) await rig.create(`job_keyed_${i}`, { concurrencyKey: 'customer-1' });
      await rig.create('job_other_1', { concurrencyKey: 'customer-2' });
      await rig.create('job_free_1');
      const first = await claimedIds(rig, { keyLimit: 2 });
      deepStrictEqual(first.toSorted(), ['job_free_1', 'job_keyed_1', 'job_keyed_2', 'job_other_1']);
      deepStrictEqual(await claimedIds(rig, { keyLimit: 2 }), []);
      await complete(rig, 'job_keyed_1');
      deepStrictEqual(await claimedIds(rig, { keyLimit: 2 }), ['job_keyed_3']);
    },
    'a limit counts over all versions and queues of a task, and for each tenant apart': async (rig) => {
      const concurrencyKey = 'k';
      await rig.create('job_v1_1', { concurrencyKey });
      await rig.create('job_v2_1', { concurrencyKey, version: '2' });
      await rig.create('job_slow_1', { concurrencyKey, queue: 'slow' });
      await rig.create('job_globex_1', { concurrencyKey, tenantId: 'globex' });
      const lanes = [{}, { version: '2' }, { queue: 'slow' }].map((spec) => laneOf(aJobSpec(spec)));
      const claimed = await claimedIds(rig, { keyLimit: 1, lanes });
      equal(claimed.length, 2);
      equal(claimed.filter((id) => id === 'job_globex_1').length, 1);
    },
    'priority goes first within a key too, and between keys': async (rig) => {
      await rig.create('job_low_1', { concurrencyKey: 'a' });
      await rig.create('job_high_1', { concurrencyKey: 'a', priority: 5 });
      await rig.create('job_high_2', { concurrencyKey: 'b', priority: 9 });
      deepStrictEqual(await claimedIds(rig, { keyLimit: 1 }), ['job_high_2', 'job_high_1']);
    },
    'no more jobs are claimed within a period than the rate allows, by all claimers together': async (
      rig,
    ) => {
      for (let i = 0; i < 12; i++) await rig.create(`job_rated_${i}`);
      await rig.create('job_unrated_1', { task: 'other' });
      const rate = { name: 'order', limit: 5, perMs: 1_000 };
      const other = await rig.connect();
      const claim = async (worker: string, store = rig.store) =>
        (await rig.claim(worker, { rate, limit: 4, store })).jobs.length;
      const rush = await Promise.all([claim('worker-a'), claim('worker-b', other), claim('worker-c')]);
      equal(
        rush.reduce((sum, count) => sum + count, 0),
        5,
      );
      const { rateFreeAt } = await rig.claim('worker-a', { rate });
      equal(rateFreeAt, rig.clock.now() + 1_020);
      const lanes = [laneOf(aJobSpec({ task: 'other' }))];
      equal((await rig.claim('worker-a', { lanes })).jobs.length, 1);
      rig.clock.advance(1_019);
      equal(await claim('worker-a'), 0);
      rig.clock.advance(1);
      equal((await claim('worker-a')) + (await claim('worker-b', other)), 5);
    },
    'claims at the same moment do not exceed a limit together': async (rig) => {
      for (let i = 0; i < 20; i++) await rig.create(`job_rush_${i}`, { concurrencyKey: 'k' });
      const other = await rig.connect();
      const claimed = await Promise.all(
        ['worker-a', 'worker-b', 'worker-c', 'worker-d'].map((worker, i) =>
          rig.claim(worker, { keyLimit: 3, limit: 5, store: i % 2 === 0 ? rig.store : other }),
        ),
      );
      const late = await rig.claim('worker-e', { keyLimit: 3, limit: 5 });
      equal([...claimed, late].flatMap(({ jobs }) => jobs).length, 3);
    },
    'JOB-14 a thousand keys that are full do not hide one that is not': async (rig) => {
      const keys = Array.from({ length: 1_000 }, (_, i) => `key-${10_000 + i}`);
      const start = async (jobs: readonly { jobId: string; concurrencyKey: string }[]) =>
        rig.store.commit(
          await Promise.all(
            jobs.map(({ jobId, concurrencyKey }) =>
              rig.prepare(jobId, rig.createCommand(jobId, { concurrencyKey })),
            ),
          ),
        );
      for (const nth of ['first', 'second'])
        await start(keys.map((key) => ({ jobId: `${nth}-of-${key}`, concurrencyKey: key })));
      const running = new Set<string>();
      for (let claims = 0; claims < 4; claims++)
        for (const jobId of await claimedIds(rig, { keyLimit: 1, limit: 500 })) running.add(jobId);
      equal(running.size, 1_000);
      await start([{ jobId: 'job_free_key', concurrencyKey: 'zzz' }]);
      const found: string[] = [];
      for (let claims = 0; claims < 3; claims++) {
        found.push(...(await claimedIds(rig, { keyLimit: 1, limit: 1 })));
      }
      deepStrictEqual(found, ['job_free_key']);
      // Wherever the last claim stopped, the first keys come again.
      await complete(rig, `first-of-${keys[0] ?? ''}`);
      for (let claims = 0; claims < 3; claims++) {
        found.push(...(await claimedIds(rig, { keyLimit: 1, limit: 1 })));
      }
      deepStrictEqual(found, ['job_free_key', `second-of-${keys[0] ?? ''}`]);
    },
    'a job that is held is not claimed, whatever becomes of it, until it is released': async (rig) => {
      await rig.create('job_held_1');
      await rig.create('job_held_2');
      const { attemptId } = await rig.running('job_held_3');
      const hold = {
        jobIds: ['job_held_2', 'job_held_3', 'job_nowhere'],
        reason: 'restored',
        by: 'operator:a',
      };
      equal((await rig.store.hold(hold)).changed, 2);
      equal((await rig.store.hold(hold)).changed, 0);
      const drained = { reason: 'drained' } as const;
      for (const id of ['job_held_1', 'job_held_2']) {
        const { job } = await rig.load(id);
        await rig.give(id, command('interrupt', { attemptId: job.attemptId ?? '', cause: drained }));
      }
      await rig.give('job_held_3', command('interrupt', { attemptId: attemptId ?? '', cause: drained }));
      deepStrictEqual(await claimedIds(rig), ['job_held_1']);
      deepStrictEqual((await rig.store.heldFor('job_held_2')).hold, {
        reason: 'restored',
        by: 'operator:a',
        since: rig.clock.now(),
      });
      equal((await rig.store.heldFor('job_held_1')).hold, null);
      equal((await rig.store.release(['job_held_3', 'job_held_1'])).changed, 1);
      deepStrictEqual(await claimedIds(rig), ['job_held_3']);
    },
    'jobs of a paused queue wait, and what runs goes on': async (rig) => {
      await rig.running('job_pause_1');
      await rig.create('job_pause_2');
      await rig.create('job_pause_3', { queue: 'other' });
      await rig.store.pauseQueue({ queue: 'default', paused: true, by: 'operator:a' });
      await rig.store.pauseQueue({ queue: 'default', paused: true, by: 'operator:b' });
      const lanes = [laneOf(aJobSpec()), laneOf(aJobSpec({ queue: 'other' }))];
      deepStrictEqual(await claimedIds(rig, { lanes }), ['job_pause_3']);
      await complete(rig, 'job_pause_1');
      deepStrictEqual((await rig.store.pausedQueues()).queues, [
        { queue: 'default', by: 'operator:a', since: rig.clock.now() },
      ]);
      await rig.store.pauseQueue({ queue: 'default', paused: false, by: 'operator:a' });
      deepStrictEqual(await claimedIds(rig, { lanes }), ['job_pause_2']);
    },
    'tenants that have nothing to run do not hide those who have': async (rig) => {
      for (const tenantId of ['a', 'b', 'c', 'd']) {
        for (let i = 0; i < 2; i++)
          await rig.create(`job_full_${tenantId}${i}`, { tenantId, concurrencyKey: 'k' });
      }
      await rig.claim('worker-a', { keyLimit: 1 });
      await rig.create('job_last_1', { tenantId: 'z' });
      deepStrictEqual(await claimedIds(rig, { keyLimit: 1, limit: 1 }), ['job_last_1']);
    },
  },
};
