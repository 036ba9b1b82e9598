import { deepStrictEqual, equal } from 'node:assert/strict';
import type { CommitItem } from '../../ports/store.js';
import { aFatalFailure, command } from '../sample-commands.js';
import type { Topic } from './rig.js';

type Held = { readonly attemptId: string };

const letter = (jobId: string, dueAt: number) =>
  ({ entryId: `letter_${jobId}`, kind: 'callback', dueAt, body: '{}' }) as const;

export const fencing: Topic = {
  name: 'fencing',
  cases: {
    'GUA-2 a write by an attempt that is no longer the current one changes nothing': async (rig) => {
      const { attemptId } = await rig.running('job_fence_1');
      const held = { attemptId: attemptId ?? '' };
      const late = await rig.prepare('job_fence_1', command('complete', held), held);
      await rig.give(
        'job_fence_1',
        command('interrupt', { ...held, cause: { reason: 'lease_expired', leaseUntil: null } }),
      );
      const before = await rig.load('job_fence_1');
      deepStrictEqual((await rig.store.commit([late])).replies, [{ ok: false, code: 'REV_TAKEN' }]);
      deepStrictEqual(await rig.load('job_fence_1'), before);
    },
    'GUA-2 it is refused by its attempt too, should the revision fit': async (rig) => {
      const { attemptId } = await rig.running('job_fence_2');
      const held = { attemptId: attemptId ?? '' };
      const late = await rig.prepare('job_fence_2', command('complete', held), held);
      await rig.give('job_fence_2', command('interrupt', { ...held, cause: { reason: 'drained' } }));
      await rig.claim('worker-b');
      const { job } = await rig.load('job_fence_2');
      const replies = (await rig.store.commit([{ ...late, rev: job.rev + 1 }])).replies;
      deepStrictEqual(replies, [{ ok: false, code: 'ATTEMPT_GONE' }]);
      equal((await rig.load('job_fence_2')).job.status, 'running');
    },
    'a step record of a worker that lost its job is refused by the log alone': async (rig) => {
      const { attemptId } = await rig.running('job_fence_3');
      const held = { attemptId: attemptId ?? '' };
      const late = await rig.prepare('job_fence_3', command('record-step', held));
      equal(late.job, null);
      await rig.give('job_fence_3', command('cancel'));
      deepStrictEqual((await rig.store.commit([late])).replies, [{ ok: false, code: 'REV_TAKEN' }]);
    },
    'whoever cancels a job sees the step records that its row lags behind': async (rig) => {
      const { attemptId } = await rig.running('job_fence_4');
      const step = await rig.prepare('job_fence_4', command('record-step', { attemptId: attemptId ?? '' }));
      const cancel = await rig.prepare('job_fence_4', command('cancel'));
      await rig.store.commit([step]);
      deepStrictEqual((await rig.store.commit([cancel])).replies, [{ ok: false, code: 'REV_TAKEN' }]);
      equal((await rig.give('job_fence_4', command('cancel'))).ok, true);
      equal((await rig.load('job_fence_4')).job.status, 'cancelled');
    },
    'commits that another connection came before are refused, and those sent with them are saved': async (
      rig,
    ) => {
      const ids = Array.from({ length: 40 }, (_, i) => `job_group_${i}`);
      for (const jobId of ids) await rig.create(jobId);
      const { jobs } = await rig.claim('worker-a', { limit: 40 });
      const ends = await Promise.all(
        jobs.map(({ spec, attemptId }) => {
          const held = { attemptId: attemptId ?? '' };
          return rig.prepare(spec.jobId, command('complete', held), held);
        }),
      );
      const [recorded, interrupted] = jobs;
      const heldBy = (job: typeof recorded) => ({ attemptId: job?.attemptId ?? '' });
      const other = await rig.connect();
      await other.commit([
        await rig.prepare('job_group_0', command('record-step', heldBy(recorded))),
        await rig.prepare(
          'job_group_1',
          command('interrupt', { ...heldBy(interrupted), cause: { reason: 'drained' } }),
        ),
      ]);
      const { replies } = await rig.store.commit(ends);
      deepStrictEqual(
        replies.flatMap((reply, i) => (reply.ok ? [] : [`${ends[i]?.jobId} ${reply.code}`])),
        ['job_group_0 REV_TAKEN', 'job_group_1 REV_TAKEN'],
      );
      equal((await rig.load('job_group_0')).job.status, 'running');
      equal((await rig.load('job_group_1')).job.status, 'interrupted');
      equal((await rig.load('job_group_39')).job.status, 'succeeded');
      equal((await rig.store.feed({ after: null, limit: 1_000 })).rows.length, 40 + 40 + 2 + 38);
    },
    'what commits bring along goes with them: of those that another connection came before nothing stays':
      async (rig) => {
        const { store } = rig;
        const bring: Readonly<Record<string, (jobId: string, held: Held) => Promise<CommitItem>>> = {
          mail: (jobId, held) =>
            rig.prepare(jobId, command('start-child', held), { outbox: [letter(jobId, rig.clock.now())] }),
          used: (jobId, held) =>
            rig.prepare(jobId, command('consume-wait', held), { consumed: ['approval'] }),
          dead: (jobId, held) =>
            rig.prepare(jobId, command('fail-attempt', { ...held, failure: aFatalFailure }), held),
          both: (jobId, held) =>
            rig.prepare(jobId, command('fail-attempt', { ...held, failure: aFatalFailure }), {
              ...held,
              outbox: [letter(jobId, rig.clock.now())],
            }),
        };
        const early: CommitItem[] = [];
        const prepareAll = async (...names: readonly string[]): Promise<CommitItem[]> => {
          const items: CommitItem[] = [];
          for (const [kind, prepare] of Object.entries(bring)) {
            for (const name of names) {
              const jobId = `job_${kind}_${name}`;
              const held = { attemptId: (await rig.running(jobId)).attemptId ?? '' };
              await store.putMessage({ jobId, key: 'approval', payload: 'true' });
              items.push(await prepare(jobId, held));
              if (name === 'late') early.push(await rig.prepare(jobId, command('record-step', held)));
            }
          }
          return items;
        };
        const undisturbed = await prepareAll('a', 'b');
        deepStrictEqual(
          new Set((await store.commit(undisturbed)).replies.map(({ ok }) => ok)),
          new Set([true]),
        );
        const disturbed = await prepareAll('c', 'late');
        await (await rig.connect()).commit(early);
        deepStrictEqual(
          (await store.commit(disturbed)).replies.map(({ ok }) => ok),
          disturbed.map(({ jobId }) => !jobId.endsWith('late')),
        );
        const { entries } = await store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 });
        deepStrictEqual(
          entries.map(({ entryId, jobId }) => [entryId, jobId]),
          ['both_a', 'both_b', 'both_c', 'mail_a', 'mail_b', 'mail_c'].map((name) => [
            `letter_job_${name}`,
            `job_${name}`,
          ]),
        );
        for (const name of ['a', 'b', 'c', 'late']) {
          equal((await store.inbox(`job_used_${name}`)).messages.length, name === 'late' ? 1 : 0);
        }
        const { items: dead } = await store.dlq({ tenantId: null, status: 'open', after: null, limit: 10 });
        deepStrictEqual(
          dead.map(({ dlqId, jobId }) => [dlqId, jobId]),
          ['both_a', 'both_b', 'both_c', 'dead_a', 'dead_b', 'dead_c'].map((name) => [
            `dlq_job_${name}`,
            `job_${name}`,
          ]),
        );
      },
    'of step records that are sent together those that come too late are refused, or too early, and the others saved':
      async (rig) => {
        const ids = Array.from({ length: 40 }, (_, i) => `job_records_${i}`);
        for (const jobId of ids) await rig.create(jobId);
        const { jobs } = await rig.claim('worker-a', { limit: 40 });
        const records = await Promise.all(
          jobs.map(({ spec, attemptId }) => {
            const held = { attemptId: attemptId ?? '' };
            return rig.prepare(spec.jobId, command('record-step', held), held);
          }),
        );
        const refusals = async (sent: typeof records) =>
          (await rig.store.commit(sent)).replies.flatMap((reply, i) =>
            reply.ok ? [] : [`${sent[i]?.jobId} ${reply.code}`],
          );
        const early = records
          .slice(0, 20)
          .map((item, i) => (i === 7 ? { ...item, rev: item.rev + 5 } : item));
        deepStrictEqual(await refusals(early), [`${early[7]?.jobId} REV_TAKEN`]);
        const late = records[27];
        await (await rig.connect()).commit([await rig.prepare(late?.jobId ?? '', command('cancel'))]);
        deepStrictEqual(await refusals(records.slice(20)), [`${late?.jobId} REV_TAKEN`]);
        for (const [i, { jobId, rev }] of records.entries()) {
          const { rows } = await rig.store.log(jobId, { fromRev: rev, limit: 10 });
          equal(rows.at(-1)?.commandId === records[i]?.commandId, i !== 7 && i !== 27);
        }
      },
  },
};
