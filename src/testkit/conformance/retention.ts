import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { laneOf } from '../../kernel/index.js';
import type { AgeRule, Identity } from '../../ports/store.js';
import { aFatalFailure, command } from '../sample-commands.js';
import { aJobSpec, T0 } from '../sample-job.js';
import type { Rig, Topic } from './rig.js';

const key = (value: string) => ({ tenantId: 'acme', kind: 'key' as const, value });
/** As whoever is made of a job takes it. */
const placeOf = (jobId: string): Identity => ({
  tenantId: 'acme',
  kind: 'successor',
  value: jobId,
  needs: jobId,
});
const DAY_MS = 86_400_000;

async function purgeAll(
  rig: Rig,
  finishedBefore: number,
  rules: readonly AgeRule[] = [],
): Promise<{ jobs: number; identities: number }> {
  const sum = { jobs: 0, identities: 0 };
  let after: string | null = null;
  do {
    const page = await rig.store.aged({ finishedBefore, rules, limit: 2, after });
    const jobs = page.jobs.map(({ jobId }) => ({ jobId, guard: null }));
    const purged = await rig.store.purge({ jobs, identityTtlMs: 30 * DAY_MS });
    sum.jobs += purged.jobs;
    sum.identities += purged.identities;
    after = page.next;
  } while (after !== null);
  return sum;
}

/** A job that has ended, with a message and two entries in its ledger, one of which has a result. */
async function ended(rig: Rig, jobId: string, identities: readonly Identity[] = []): Promise<void> {
  await rig.create(jobId, {}, { identities });
  await rig.store.putMessage({ jobId, key: 'k', payload: '1' });
  await rig.store.putEffect({ jobId, step: 's', occurrence: 1, entry: 1, result: '1' });
  await rig.store.putEffect({ jobId, step: 's', occurrence: 2, entry: 1, result: null });
  await rig.give(jobId, command('cancel'));
}
const SEEN = { inboxRev: 1, effects: 2, results: 1 };

export const retention: Topic = {
  name: 'retention',
  cases: {
    'how long a job is kept may depend on its task and on how it ended': async (rig) => {
      const end = async (jobId: string, task: string, fails: boolean) => {
        await rig.create(jobId, { task });
        const { jobs } = await rig.claim('worker-a', { lanes: [laneOf(aJobSpec({ task }))] });
        const attemptId = jobs[0]?.attemptId ?? '';
        await rig.give(jobId, fails ? command('cancel') : command('complete', { attemptId }));
      };
      await end('job_kept_1', 'ledger', false);
      await end('job_kept_2', 'order', true);
      await end('job_gone_1', 'order', false);
      await end('job_gone_2', 'mail', true);
      rig.clock.advance(DAY_MS);
      const rules = [
        { task: 'ledger', status: null, finishedBefore: 0 },
        { task: 'order', status: 'cancelled', finishedBefore: 0 },
      ] as const;
      deepStrictEqual(await purgeAll(rig, rig.clock.now(), rules), { jobs: 2, identities: 0 });
      const left = await rig.store.list({
        tenantId: null,
        statuses: null,
        task: null,
        limit: 9,
        cursor: null,
      });
      deepStrictEqual(left.rows.map(({ jobId }) => jobId).toSorted(), ['job_kept_1', 'job_kept_2']);
    },
    'jobs that ended long ago go with all that is theirs; others stay': async (rig) => {
      for (const id of ['job_old_1', 'job_old_2', 'job_old_3', 'job_live_1', 'job_new_1'])
        await rig.create(id);
      await rig.store.putMessage({ jobId: 'job_old_1', key: 'k', payload: '1' });
      await rig.store.putEffect({ jobId: 'job_old_1', step: 's', occurrence: 1, entry: 1, result: '1' });
      for (const id of ['job_old_1', 'job_old_2', 'job_old_3']) await rig.give(id, command('cancel'));
      rig.clock.advance(DAY_MS);
      await rig.give('job_new_1', command('cancel', { now: rig.clock.now() }));
      deepStrictEqual(await purgeAll(rig, rig.clock.now()), { jobs: 3, identities: 0 });
      equal((await rig.store.load('job_old_1')).found, null);
      deepStrictEqual((await rig.store.log('job_old_1', { fromRev: 1, limit: 10 })).rows, []);
      deepStrictEqual((await rig.store.effects('job_old_1')).results, []);
      deepStrictEqual((await rig.store.inbox('job_old_1')).messages, []);
      deepStrictEqual((await rig.store.counts({ tenantId: null })).counts, { queued: 1, cancelled: 1 });
      deepStrictEqual((await rig.store.strays({ after: null, limit: 10 })).strays, []);
      deepStrictEqual(await purgeAll(rig, rig.clock.now()), { jobs: 0, identities: 0 });
    },
    'the feed goes on behind what was deleted': async (rig) => {
      await rig.create('job_feed_1');
      await rig.give('job_feed_1', command('cancel'));
      const { rows } = await rig.store.feed({ after: null, limit: 10 });
      const position = rows.at(-1)?.position ?? null;
      rig.clock.advance(1);
      await purgeAll(rig, rig.clock.now());
      await rig.create('job_feed_2');
      const next = await rig.store.feed({ after: position, limit: 10 });
      deepStrictEqual(
        next.rows.map(({ jobId, rev }) => [jobId, rev]),
        [['job_feed_2', 1]],
      );
    },
    'identities outlive their job for a while': async (rig) => {
      await rig.create('job_ttl_1', {}, { identities: [key('k')] });
      await rig.give('job_ttl_1', command('cancel'));
      rig.clock.advance(1);
      await purgeAll(rig, rig.clock.now());
      deepStrictEqual((await rig.store.resolve([key('k')])).jobIds, ['job_ttl_1']);
      const again = await rig.prepare('job_ttl_2', rig.createCommand('job_ttl_2'), {
        identities: [key('k')],
      });
      equal((await rig.store.commit([again])).replies[0]?.ok, false);
      rig.clock.advance(30 * DAY_MS);
      deepStrictEqual(await purgeAll(rig, 0), { jobs: 0, identities: 1 });
      equal((await rig.store.commit([again])).replies[0]?.ok, true);
    },
    'a letter of a job that is gone does not stand in the way of one with the same id': async (rig) => {
      const letter = (body: string) => ({
        outbox: [{ entryId: 'letter_gone_1', kind: 'callback', dueAt: rig.clock.now(), body }] as const,
      });
      await rig.create('job_gone_1', {}, letter('"old"'));
      await rig.give('job_gone_1', command('cancel'));
      rig.clock.advance(1);
      deepStrictEqual(await purgeAll(rig, rig.clock.now()), { jobs: 1, identities: 0 });
      await rig.create('job_gone_1', {}, letter('"new"'));
      const { entries } = await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 });
      deepStrictEqual(
        entries.map(({ body }) => body),
        ['"new"'],
      );
    },
    'a worker that died long ago is forgotten, unless a job is still under its name': async (rig) => {
      const names = async () => {
        const incarnations = ['worker-a', 'worker-b', 'worker-c'].map((id) => rig.worker(id).incarnation);
        const { workers } = await rig.store.workers({ incarnations });
        return workers.map(({ worker }) => worker.id);
      };
      const beat = (id: string) => rig.store.beat({ worker: rig.worker(id), leaseMs: 30_000, lanes: [] });
      await rig.running('job_held_1');
      await beat('worker-b');
      rig.clock.advance(8 * DAY_MS);
      await beat('worker-c');
      deepStrictEqual(await names(), ['worker-a', 'worker-b', 'worker-c']);
      const { jobs } = await rig.store.orphans({ limit: 10 });
      equal(jobs.length, 1);
      await purgeAll(rig, 0);
      deepStrictEqual(await names(), ['worker-a', 'worker-c']);
      await rig.give('job_held_1', command('cancel'));
      await purgeAll(rig, 0);
      deepStrictEqual(await names(), ['worker-c']);
    },
    'a failed job stays as long as its dead-letter item is open': async (rig) => {
      const { attemptId } = await rig.running('job_dlq_9');
      await rig.give(
        'job_dlq_9',
        command('fail-attempt', { attemptId: attemptId ?? '', failure: aFatalFailure }),
      );
      rig.clock.advance(DAY_MS);
      deepStrictEqual(await purgeAll(rig, rig.clock.now()), { jobs: 0, identities: 0 });
      equal((await rig.load('job_dlq_9')).job.status, 'failed');
    },
    'JOB-8 a dead letter that was dealt with goes with its job, and one of the same id can fail as well':
      async (rig) => {
        const fail = async () => {
          const { attemptId } = await rig.running('job_dlq_own');
          const now = rig.clock.now();
          const failed = command('fail-attempt', { now, attemptId: attemptId ?? '', failure: aFatalFailure });
          equal((await rig.give('job_dlq_own', failed)).ok, true);
          return (await rig.store.dlqItem('dlq_job_dlq_own')).item;
        };
        const first = await fail();
        ok(first, 'it has none');
        await rig.store.putDlqItem({ ...first, version: 2, status: 'discarded' });
        rig.clock.advance(DAY_MS);
        deepStrictEqual(await purgeAll(rig, rig.clock.now()), { jobs: 1, identities: 0 });
        equal((await rig.store.dlqItem(first.dlqId)).item, null);
        const second = await fail();
        deepStrictEqual([second?.version, second?.status, second?.createdAt], [1, 'open', rig.clock.now()]);
      },
    'only the jobs that are named go, and none that has not ended': async (rig) => {
      const latest: Identity = { tenantId: 'acme', kind: 'latest_run', value: 'work' };
      await ended(rig, 'job_named_1', [key('k'), latest]);
      await ended(rig, 'job_named_2', [{ ...latest, replaces: 'job_named_1' }]);
      await rig.create('job_live_1');
      rig.clock.advance(1);
      const aged = await rig.store.aged({ finishedBefore: rig.clock.now(), limit: 10, after: null });
      const alike = { tenantId: 'acme', task: 'order', status: 'cancelled', finishedAt: T0 };
      deepStrictEqual(aged.jobs, [
        { jobId: 'job_named_1', ...alike, identities: [key('k'), latest] },
        { jobId: 'job_named_2', ...alike, identities: [{ ...latest, replaces: 'job_named_1' }] },
      ]);
      equal(aged.next, null);
      const jobs = ['job_named_1', 'job_live_1', 'job_nowhere'].map((jobId) => ({ jobId, guard: null }));
      equal((await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs, 1);
      equal((await rig.store.load('job_named_1')).found, null);
      equal((await rig.load('job_named_2')).job.status, 'cancelled');
      equal((await rig.load('job_live_1')).job.status, 'queued');
    },
    'a job that something came to since it was looked at stays': async (rig) => {
      const changes: Readonly<Record<string, (jobId: string) => Promise<unknown>>> = {
        job_same_1: async () => undefined,
        job_mail_1: (jobId) => rig.store.putMessage({ jobId, key: 'other', payload: '2' }),
        job_entry_1: (jobId) =>
          rig.store.putEffect({ jobId, step: 's', occurrence: 3, entry: 1, result: null }),
        job_late_1: (jobId) =>
          rig.store.putEffect({ jobId, step: 's', occurrence: 2, entry: 1, result: '2' }),
      };
      for (const [id, change] of Object.entries(changes)) {
        await ended(rig, id);
        await change(id);
      }
      const jobs = Object.keys(changes).map((jobId) => ({ jobId, guard: SEEN }));
      equal((await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs, 1);
      equal((await rig.store.load('job_same_1')).found, null);
      equal((await rig.store.effects('job_late_1')).results.length, 2);
      equal((await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs, 0);
      const late = { jobId: 'job_late_1', guard: { ...SEEN, results: 2 } };
      equal((await rig.store.purge({ jobs: [late], identityTtlMs: 0 })).jobs, 1);
    },
    'a result that arrives as its job is purged is kept with the job, or told that there is none': async (
      rig,
    ) => {
      const other = await rig.connect();
      for (let round = 0; round < 10; round++) {
        const jobId = `job_race_${round}`;
        await ended(rig, jobId);
        const put = () => other.putEffect({ jobId, step: 's', occurrence: 2, entry: 1, result: '2' });
        const purge = () => rig.store.purge({ jobs: [{ jobId, guard: SEEN }], identityTtlMs: 0 });
        const early = round % 2 === 0 ? put() : null;
        const [{ jobs }, { first }] = await Promise.all([purge(), early ?? put()]);
        equal(first, jobs === 0);
        equal((await rig.store.load(jobId)).found === null, jobs === 1);
      }
    },
    'GUA-14 a job whose place was taken since it was looked at stays': async (rig) => {
      for (const id of ['job_free_1', 'job_taken_1', 'job_same_1']) await ended(rig, id);
      await rig.create('job_heir_1', {}, { identities: [placeOf('job_same_1')] });
      const seen = [
        { jobId: 'job_free_1', place: null },
        { jobId: 'job_taken_1', place: null },
        { jobId: 'job_same_1', place: 'job_heir_1' },
      ].map((one) => ({ ...one, guard: null }));
      await rig.create('job_heir_2', {}, { identities: [placeOf('job_taken_1')] });
      equal((await rig.store.purge({ jobs: seen, identityTtlMs: 0 })).jobs, 2);
      equal((await rig.load('job_taken_1')).job.status, 'cancelled');
      deepStrictEqual((await rig.store.resolve([placeOf('job_taken_1')])).jobIds, ['job_heir_2']);
    },
    'GUA-14 the place of a job that was purged cannot be taken, and whoever had it hears so again': async (
      rig,
    ) => {
      await ended(rig, 'job_gone_1');
      const take = (jobId: string) =>
        rig.prepare(jobId, rig.createCommand(jobId), { identities: [placeOf('job_gone_1')] });
      const first = await take('job_heir_1');
      deepStrictEqual((await rig.store.commit([first])).replies, [{ ok: true, repeated: false }]);
      const jobs = [{ jobId: 'job_gone_1', guard: null }];
      equal((await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs, 1);
      deepStrictEqual((await rig.store.commit([first])).replies, [{ ok: true, repeated: true }]);
      const late = await take('job_heir_2');
      deepStrictEqual((await rig.store.commit([late])).replies, [{ ok: false, code: 'JOB_GONE' }]);
      equal((await rig.store.load('job_heir_2')).found, null);
      deepStrictEqual((await rig.store.resolve([placeOf('job_gone_1')])).jobIds, [null]);
    },
    'GUA-14 whoever takes the place of a job as that is purged has it with the job, or is told that there is none':
      async (rig) => {
        const other = await rig.connect();
        for (let round = 0; round < 10; round++) {
          const jobId = `job_race_${round}`;
          await ended(rig, jobId);
          const heir = `job_heir_${round}`;
          const item = await rig.prepare(heir, rig.createCommand(heir), { identities: [placeOf(jobId)] });
          const take = () => other.commit([item]);
          const purge = () =>
            rig.store.purge({ jobs: [{ jobId, guard: null, place: null }], identityTtlMs: 0 });
          const early = round % 2 === 0 ? take() : null;
          const [{ jobs }, { replies }] = await Promise.all([purge(), early ?? take()]);
          equal(replies[0]?.ok, jobs === 0);
          equal((await rig.store.load(jobId)).found === null, jobs === 1);
          equal((await rig.store.load(heir)).found === null, jobs === 1);
        }
      },
  },
};
