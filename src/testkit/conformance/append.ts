import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { chainHash } from '../../engine/sha256.js';
import { findBrokenLink, replay } from '../../kernel/index.js';
import { command } from '../sample-commands.js';
import type { Topic } from './rig.js';

export const append: Topic = {
  name: 'append',
  cases: {
    'a job comes back as it was saved': async (rig) => {
      const job = await rig.create('job_append_1', {
        priority: 7,
        signals: ['go'],
        deadlineAt: rig.clock.now() + 1_000,
      });
      deepStrictEqual(replay(await rig.commits('job_append_1')).job, job);
      equal(job.rev, 1);
    },
    'a job that nobody created is not there': async (rig) => {
      deepStrictEqual((await rig.store.load('job_nobody_1')).found, null);
      deepStrictEqual((await rig.store.log('job_nobody_1', { fromRev: 1, limit: 10 })).rows, []);
    },
    'row and log agree after every commit, step records included': async (rig) => {
      const { attemptId } = await rig.running('job_append_2');
      const held = { attemptId: attemptId ?? '' };
      for (let n = 1; n <= 5; n++)
        await rig.give('job_append_2', command('record-step', { ...held, occurrence: n }));
      const between = await rig.load('job_append_2');
      equal(between.job.rev, 7);
      await rig.give('job_append_2', command('complete', { ...held, result: '{"done":true}' }));
      const { job } = await rig.load('job_append_2');
      deepStrictEqual(replay(await rig.commits('job_append_2')).job, job);
      equal(job.result, '{"done":true}');
    },
    'whoever asks at the same time as others gets his own answer, of jobs that nobody knows as well': async (
      rig,
    ) => {
      const { store } = rig;
      await rig.create('job_asked_1');
      const { attemptId } = await rig.running('job_asked_2');
      for (let occurrence = 1; occurrence <= 3; occurrence++)
        await rig.give('job_asked_2', command('record-step', { attemptId: attemptId ?? '', occurrence }));
      const wanted = ['job_asked_2', 'job_nobody_4', 'job_asked_1', 'job_asked_2'];
      const loaded = await Promise.all(wanted.map((jobId) => store.load(jobId)));
      deepStrictEqual(
        loaded.map(({ now, found }) => [now, found?.job.spec.jobId, found?.job.rev]),
        [
          [rig.clock.now(), 'job_asked_2', 5],
          [rig.clock.now(), undefined, undefined],
          [rig.clock.now(), 'job_asked_1', 2],
          [rig.clock.now(), 'job_asked_2', 5],
        ],
      );
      const pages = await Promise.all([
        store.log('job_asked_2', { fromRev: 3, limit: 2 }),
        store.log('job_nobody_4', { fromRev: 1, limit: 2 }),
        store.log('job_asked_1', { fromRev: 1, limit: 9 }),
        store.log('job_asked_2', { fromRev: 5, limit: 9 }),
        store.log('job_asked_1', { fromRev: 9, limit: 9 }),
      ]);
      deepStrictEqual(
        pages.map(({ rows }) => rows.map(({ jobId, rev }) => `${jobId} ${rev}`)),
        [['job_asked_2 3', 'job_asked_2 4'], [], ['job_asked_1 1', 'job_asked_1 2'], ['job_asked_2 5'], []],
      );
    },
    'the hash chain holds from the first row to the head': async (rig) => {
      const { attemptId } = await rig.running('job_append_3');
      await rig.give('job_append_3', command('record-step', { attemptId: attemptId ?? '' }));
      await rig.give('job_append_3', command('cancel'));
      const { rows } = await rig.store.log('job_append_3', { fromRev: 1, limit: 100 });
      const { job, link } = await rig.load('job_append_3');
      equal(findBrokenLink(chainHash, rows, { rev: job.rev, link }), null);
    },
    'the same command sent again gets its first answer, and nothing is saved twice': async (rig) => {
      const item = await rig.prepare('job_append_4', rig.createCommand('job_append_4'));
      deepStrictEqual((await rig.store.commit([item])).replies, [{ ok: true, repeated: false }]);
      deepStrictEqual((await rig.store.commit([item])).replies, [{ ok: true, repeated: true }]);
      equal((await rig.commits('job_append_4')).length, 1);
    },
    'what brings letters and is there already is told so, and nobody else is held up': async (rig) => {
      const outbox = [
        { entryId: 'letter_append_1', kind: 'callback', dueAt: rig.clock.now(), body: '{}' },
      ] as const;
      const create = rig.createCommand('job_letter_1');
      const first = await rig.prepare('job_letter_1', create, { outbox });
      const rival = { ...first, commandId: 'rival' };
      const other = await rig.prepare('job_letter_2', rig.createCommand('job_letter_2'));
      deepStrictEqual((await rig.store.commit([first])).replies, [{ ok: true, repeated: false }]);
      deepStrictEqual((await rig.store.commit([rival, first, other])).replies, [
        { ok: false, code: 'REV_TAKEN' },
        { ok: true, repeated: true },
        { ok: true, repeated: false },
      ]);
      const { entries } = await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 });
      deepStrictEqual(
        entries.map(({ entryId }) => entryId),
        ['letter_append_1'],
      );
    },
    'two commits for one revision: the first is saved, the second is refused': async (rig) => {
      await rig.create('job_append_5');
      const cancel = await rig.prepare('job_append_5', command('cancel', { reason: 'one' }));
      const rival = await rig.prepare('job_append_5', command('cancel', { reason: 'two' }));
      const { replies } = await rig.store.commit([cancel, rival]);
      deepStrictEqual(replies, [
        { ok: true, repeated: false },
        { ok: false, code: 'REV_TAKEN' },
      ]);
      equal((await rig.commits('job_append_5')).length, 2);
    },
    'a commit that skips a revision is refused': async (rig) => {
      await rig.create('job_append_6');
      const item = await rig.prepare('job_append_6', command('cancel'));
      deepStrictEqual((await rig.store.commit([{ ...item, rev: 9 }])).replies, [
        { ok: false, code: 'REV_TAKEN' },
      ]);
    },
    'a refused commit in a batch harms no other': async (rig) => {
      await rig.create('job_append_7');
      const good = await rig.prepare('job_append_8', rig.createCommand('job_append_8'));
      const bad = { ...(await rig.prepare('job_append_7', command('cancel'))), rev: 5 };
      const { replies } = await rig.store.commit([bad, good]);
      deepStrictEqual(
        replies.map(({ ok: saved }) => saved),
        [false, true],
      );
      ok((await rig.store.load('job_append_8')).found);
    },
    'jobs that are claimed in another order than they came in, and finished together, are each whole': async (
      rig,
    ) => {
      const ids = Array.from({ length: 43 }, (_, i) => `job_crowd_${i}`);
      for (const [i, jobId] of ids.entries()) await rig.create(jobId, { priority: (i * 7) % 43 });
      const { jobs } = await rig.claim('worker-a', { limit: 43 });
      deepStrictEqual(
        jobs.map(({ spec }) => spec.priority),
        ids.map((_, i) => 42 - i),
      );
      for (const job of jobs) deepStrictEqual((await rig.load(job.spec.jobId)).job, job);
      const ends = await Promise.all(
        jobs.map(({ spec: { jobId }, attemptId }) => {
          const held = { attemptId: attemptId ?? '' };
          return rig.prepare(jobId, command('complete', { ...held, result: `"${jobId}"` }), held);
        }),
      );
      ok((await rig.store.commit(ends)).replies.every((reply) => reply.ok));
      for (const jobId of ids) {
        const { job, link } = await rig.load(jobId);
        equal(job.result, `"${jobId}"`);
        deepStrictEqual(replay(await rig.commits(jobId)).job, job);
        const { rows } = await rig.store.log(jobId, { fromRev: 1, limit: 10 });
        equal(findBrokenLink(chainHash, rows, { rev: 3, link }), null);
      }
    },
    'a thousand concurrent commits are all saved': async (rig) => {
      const ids = Array.from({ length: 1_000 }, (_, i) => `job_many_${i}`);
      const items = await Promise.all(ids.map((id) => rig.prepare(id, rig.createCommand(id))));
      const results = await Promise.all(items.map((item) => rig.store.commit([item])));
      ok(results.every(({ replies }) => replies[0]?.ok));
      equal((await rig.store.counts({ tenantId: null })).counts.queued, 1_000);
    },
  },
};
