import { deepStrictEqual, equal } from 'node:assert/strict';
import { laneOf } from '../../kernel/index.js';
import type { Store } from '../../ports/store.js';
import { command } from '../sample-commands.js';
import { aJobSpec } from '../sample-job.js';
import type { ClaimOptions, Rig, Topic } from './rig.js';

const claimedIds = async (rig: Rig, options: ClaimOptions = {}): Promise<string[]> =>
  (await rig.claim('worker-a', options)).jobs.map(({ spec }) => spec.jobId);

async function complete(rig: Rig, jobId: string): Promise<void> {
  const { job } = await rig.load(jobId);
  await rig.give(jobId, command('complete', { attemptId: job.attemptId ?? '' }));
}

/** Several workers claim at once, over two connections, again and again until none gets anything. */
async function rush(rig: Rig, options: ClaimOptions, rounds: number): Promise<string[]> {
  const other: Store = await rig.connect();
  const claimed: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name, i) =>
        rig.claim(`worker-${name}`, { ...options, store: i % 2 === 0 ? rig.store : other }),
      ),
    );
    claimed.push(...replies.flatMap(({ jobs }) => jobs.map(({ spec }) => spec.jobId)));
  }
  return claimed;
}

export const tenantLimits: Topic = {
  name: 'tenant limits',
  cases: {
    'no more jobs of one tenant run than its limit allows, whatever their keys; others have their own':
      async (rig) => {
        await rig.create('job_tenant_1', { concurrencyKey: '' });
        await rig.create('job_tenant_2', { concurrencyKey: 'k' });
        await rig.create('job_tenant_3', { concurrencyKey: '' });
        await rig.create('job_tenant_4', { concurrencyKey: 'l' });
        await rig.create('job_globex_1', { concurrencyKey: '', tenantId: 'globex' });
        const first = await claimedIds(rig, { tenantLimit: 2 });
        deepStrictEqual(first.toSorted(), ['job_globex_1', 'job_tenant_1', 'job_tenant_2']);
        deepStrictEqual(await claimedIds(rig, { tenantLimit: 2 }), []);
        await complete(rig, 'job_tenant_2');
        deepStrictEqual(await claimedIds(rig, { tenantLimit: 2 }), ['job_tenant_3']);
      },
    'a key’s limit and the tenant’s hold together; the empty key has no limit of its own': async (rig) => {
      for (let i = 1; i <= 3; i++) await rig.create(`job_key_${i}`, { concurrencyKey: 'k', priority: 9 });
      for (let i = 1; i <= 4; i++) await rig.create(`job_none_${i}`, { concurrencyKey: '' });
      const both = { keyLimit: 1, tenantLimit: 3 };
      deepStrictEqual(await claimedIds(rig, both), ['job_key_1', 'job_none_1', 'job_none_2']);
      await complete(rig, 'job_none_1');
      deepStrictEqual(await claimedIds(rig, both), ['job_none_3']);
      await complete(rig, 'job_key_1');
      deepStrictEqual(await claimedIds(rig, both), ['job_key_2']);
    },
    'a tenant’s limit counts over all versions and queues of a task, and no other task': async (rig) => {
      const concurrencyKey = '';
      await rig.create('job_v1_1', { concurrencyKey });
      await rig.create('job_v2_1', { concurrencyKey, version: '2' });
      await rig.create('job_slow_1', { concurrencyKey, queue: 'slow' });
      await rig.create('job_alike_1', { concurrencyKey, task: 'order two' });
      await rig.create('job_alike_2', { concurrencyKey, task: 'order!' });
      const specs = [{}, { version: '2' }, { queue: 'slow' }, { task: 'order two' }, { task: 'order!' }];
      const lanes = specs.map((spec) => laneOf(aJobSpec(spec)));
      const claimed = await claimedIds(rig, { tenantLimit: 1, lanes });
      equal(claimed.length, 3);
      deepStrictEqual(claimed.filter((id) => id.startsWith('job_alike')).toSorted(), [
        'job_alike_1',
        'job_alike_2',
      ]);
      deepStrictEqual(await claimedIds(rig, { tenantLimit: 1, lanes }), []);
    },
    'a job that waits makes room, and takes it again when it goes on': async (rig) => {
      for (let i = 1; i <= 3; i++) await rig.create(`job_wait_${i}`, { concurrencyKey: '' });
      deepStrictEqual(await claimedIds(rig, { tenantLimit: 1 }), ['job_wait_1']);
      const { job } = await rig.load('job_wait_1');
      await rig.give('job_wait_1', command('begin-wait', { attemptId: job.attemptId ?? '' }));
      deepStrictEqual(await claimedIds(rig, { tenantLimit: 1 }), ['job_wait_2']);
      deepStrictEqual(await claimedIds(rig, { tenantLimit: 1 }), []);
      await complete(rig, 'job_wait_2');
      deepStrictEqual(await claimedIds(rig, { tenantLimit: 1 }), ['job_wait_3']);
    },
    'claims at the same moment do not exceed a tenant’s limit together': async (rig) => {
      for (let i = 0; i < 12; i++) {
        await rig.create(`job_rush_${i}`, { concurrencyKey: i % 2 === 0 ? '' : `k${i % 3}` });
        await rig.create(`job_rival_${i}`, { concurrencyKey: '', tenantId: 'globex' });
      }
      const claimed = await rush(rig, { keyLimit: 2, tenantLimit: 3, limit: 5 }, 4);
      equal(claimed.filter((id) => id.startsWith('job_rush')).length, 3);
      equal(claimed.filter((id) => id.startsWith('job_rival')).length, 3);
    },
    'a rate may be each tenant’s own, and is kept by all claimers together': async (rig) => {
      for (let i = 0; i < 8; i++) {
        await rig.create(`job_rated_${i}`);
        await rig.create(`job_other_${i}`, { tenantId: 'globex' });
      }
      const rate = { name: 'order', limit: 3, perMs: 1_000 };
      const options = { rate, ratePerTenant: true, limit: 5 };
      const claimed = await rush(rig, options, 4);
      equal(claimed.filter((id) => id.startsWith('job_rated')).length, 3);
      equal(claimed.filter((id) => id.startsWith('job_other')).length, 3);
      equal((await rig.claim('worker-a', options)).rateFreeAt, rig.clock.now() + 1_020);
      rig.clock.advance(1_019);
      deepStrictEqual(await claimedIds(rig, options), []);
      rig.clock.advance(1);
      equal((await rush(rig, options, 4)).length, 6);
    },
    'a tenant whose rate is used up hides neither another’s jobs nor its own of other tasks': async (rig) => {
      const rate = { name: 'order', limit: 1, perMs: 1_000 };
      const options = { rate, ratePerTenant: true, limit: 1 };
      for (const tenantId of ['a', 'b', 'c']) {
        for (let i = 0; i < 2; i++) await rig.create(`job_used_${tenantId}${i}`, { tenantId });
      }
      for (let i = 0; i < 3; i++)
        await rig.claim('worker-a', { ...options, afterTenant: 'abc'[i - 1] ?? '' });
      await rig.create('job_last_1', { tenantId: 'z' });
      deepStrictEqual(await claimedIds(rig, options), ['job_last_1']);
      await rig.create('job_mail_1', { tenantId: 'a', task: 'mail' });
      deepStrictEqual(await claimedIds(rig, { lanes: [laneOf(aJobSpec({ task: 'mail' }))] }), ['job_mail_1']);
    },
  },
};
