import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict';
import { queueOf, rowOf, type DlqItem } from '../../kernel/index.js';
import { aFatalFailure, command } from '../sample-commands.js';
import type { Rig, Topic } from './rig.js';

export const lists: Topic = {
  name: 'lists',
  cases: {
    'newest first, page by page, none twice and none left out': async (rig) => {
      for (let i = 0; i < 7; i++) await rig.create(`job_list_${i}`);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof rig.store.list>> = await rig.store.list({
          tenantId: null,
          statuses: null,
          task: null,
          limit: 3,
          cursor,
        });
        seen.push(...page.rows.map(({ jobId }) => jobId));
        cursor = page.next;
        await rig.create(`job_meanwhile_${seen.length}`);
      } while (cursor !== null);
      deepStrictEqual(
        seen,
        Array.from({ length: 7 }, (_, i) => `job_list_${6 - i}`),
      );
    },
    'goes on where it was, although the job that a page ended with is deleted': async (rig) => {
      const ids = Array.from({ length: 6 }, (_, i) => `job_gone_${i}`);
      for (const jobId of ids) {
        await rig.create(jobId);
        await rig.give(jobId, command('cancel'));
      }
      const all = { tenantId: null, statuses: null, task: null, limit: 2 };
      const seen: string[] = [];
      for (let cursor: string | null = null; ;) {
        const page: Awaited<ReturnType<typeof rig.store.list>> = await rig.store.list({ ...all, cursor });
        seen.push(...page.rows.map(({ jobId }) => jobId));
        cursor = page.next;
        if (cursor === null) break;
        const jobs = page.rows.slice(-1).map(({ jobId }) => ({ jobId, guard: null }));
        equal((await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs, 1);
      }
      deepStrictEqual(seen, ids.toReversed());
    },
    'every row tells where a page goes on behind it': async (rig) => {
      for (let i = 0; i < 5; i++) await rig.create(`job_place_${i}`);
      const all = { tenantId: null, statuses: null, task: null, limit: 5 };
      const { rows, places, next } = await rig.store.list({ ...all, cursor: null });
      equal(next, null);
      const behind = await Promise.all(places.map((cursor) => rig.store.list({ ...all, cursor })));
      deepStrictEqual(
        behind.map((page) => page.rows),
        rows.map((_, index) => rows.slice(index + 1)),
      );
    },
    'a cursor that is none is refused': async (rig) => {
      await rig.create('job_cursor_1');
      const all = { tenantId: null, statuses: null, task: null, limit: 1 };
      for (const cursor of ['', 'x', 'job_cursor_1', "1' OR 1", '-1', '9'.repeat(30), '1 2 x']) {
        await rejects(rig.store.list({ ...all, cursor }), { code: 'INVALID_OPTION' });
      }
    },
    'filters by tenant, status and task; rows are what the kernel makes of the job': async (rig) => {
      await rig.create('job_filter_1', { tenantId: 'globex' });
      await rig.create('job_filter_2', { task: 'mail' });
      const job = await rig.running('job_filter_3');
      const list = async (filter: object) =>
        (
          await rig.store.list({
            tenantId: null,
            statuses: null,
            task: null,
            limit: 10,
            cursor: null,
            ...filter,
          })
        ).rows;
      deepStrictEqual(
        (await list({ tenantId: 'globex', statuses: ['running', 'queued'] })).map(({ jobId }) => jobId),
        ['job_filter_1'],
      );
      deepStrictEqual(
        (await list({ task: 'mail' })).map(({ jobId }) => jobId),
        ['job_filter_2'],
      );
      deepStrictEqual(await list({ statuses: ['running', 'waiting'], tenantId: 'acme' }), [rowOf(job)]);
    },
    'the heads of the lanes are what would be claimed next': async (rig) => {
      deepStrictEqual((await rig.store.heads({ limit: 9 })).heads, []);
      await rig.create('job_head_1', { tenantId: 'globex', queue: 'b' });
      const { createdAt } = await rig.create('job_head_2', { tenantId: 'acme', queue: 'b' });
      await rig.create('job_head_3', { tenantId: 'acme', queue: 'b' });
      await rig.create('job_head_4', { tenantId: 'acme', queue: 'a' });
      const cancelled = await rig.create('job_head_5', { tenantId: 'initech', queue: 'a' });
      await rig.give(cancelled.spec.jobId, command('cancel'));
      const heads = (await rig.store.heads({ limit: 9 })).heads;
      deepStrictEqual(
        heads.map(({ lane, tenantId }) => [queueOf(lane), tenantId]),
        [
          ['a', 'acme'],
          ['b', 'acme'],
          ['b', 'globex'],
        ],
      );
      equal(heads[1]?.dueAt, createdAt);
      equal((await rig.store.heads({ limit: 2 })).heads.length, 2);
    },
    'what has become due is a head, though nobody has claimed since': async (rig) => {
      const scheduledAt = rig.clock.now() + 60_000;
      await rig.create('job_head_6', { tenantId: 'acme', queue: 'late', scheduledAt });
      const late = async () =>
        (await rig.store.heads({ limit: 9 })).heads.filter(({ lane }) => queueOf(lane) === 'late');
      deepStrictEqual(await late(), []);
      rig.clock.advance(60_000);
      deepStrictEqual(
        (await late()).map(({ tenantId, dueAt }) => [tenantId, dueAt]),
        [['acme', scheduledAt]],
      );
    },
    'counts are those of the lists': async (rig) => {
      await rig.create('job_count_1');
      await rig.create('job_count_2', { tenantId: 'globex' });
      await rig.create('job_count_3');
      await rig.give('job_count_3', command('cancel'));
      deepStrictEqual((await rig.store.counts({ tenantId: null })).counts, { queued: 2, cancelled: 1 });
      deepStrictEqual((await rig.store.counts({ tenantId: 'globex' })).counts, { queued: 1 });
    },
  },
};

export const feed: Topic = {
  name: 'feed',
  cases: {
    'every commit once, in order, from any position on': async (rig) => {
      await rig.create('job_feed_1');
      await rig.create('job_feed_2');
      await rig.give('job_feed_1', command('cancel'));
      const all = (await rig.store.feed({ after: null, limit: 100 })).rows;
      deepStrictEqual(
        all.map(({ jobId, rev }) => `${jobId} ${rev}`),
        ['job_feed_1 1', 'job_feed_2 1', 'job_feed_1 2'],
      );
      const later = (await rig.store.feed({ after: all[0]?.position ?? null, limit: 1 })).rows;
      deepStrictEqual(later, [all[1]]);
      deepStrictEqual((await rig.store.feed({ after: all.at(-1)?.position ?? null, limit: 10 })).rows, []);
    },
    'its end is behind what there is, and before what comes': async (rig) => {
      const empty = await rig.store.feedEnd();
      await rig.create('job_feed_end_1');
      const { position } = await rig.store.feedEnd();
      await rig.create('job_feed_end_2');
      const behind = async (after: string) =>
        (await rig.store.feed({ after, limit: 9 })).rows.map(({ jobId }) => jobId);
      deepStrictEqual(await behind(position), ['job_feed_end_2']);
      deepStrictEqual(await behind(empty.position), ['job_feed_end_1', 'job_feed_end_2']);
      deepStrictEqual((await rig.store.feedHeldBack()).since, null);
    },
    'a position that is none is refused': async (rig) => {
      for (const after of ['', 'x', "1' OR 1", '-1', '9'.repeat(30), '1 2 x']) {
        await rejects(rig.store.feed({ after, limit: 1 }), { code: 'INVALID_OPTION' });
      }
    },
  },
};

export const deadLetters: Topic = {
  name: 'dead letters',
  cases: {
    'JOB-7 the item is written by the commit that fails the job': async (rig) => {
      const { attemptId } = await rig.running('job_dlq_1');
      deepStrictEqual(
        (await rig.store.dlq({ tenantId: null, status: null, after: null, limit: 10 })).items,
        [],
      );
      await rig.give(
        'job_dlq_1',
        command('fail-attempt', { attemptId: attemptId ?? '', failure: aFatalFailure }),
      );
      const { job } = await rig.load('job_dlq_1');
      equal(job.status, 'failed');
      const { items } = await rig.store.dlq({ tenantId: 'acme', status: 'open', after: null, limit: 10 });
      equal(items.length, 1);
      equal(items[0]?.dlqId, job.deadLetter?.dlqId);
      equal(items[0]?.errorCode, 'CARD_DECLINED');
      ok(
        (await rig.store.dlq({ tenantId: 'globex', status: null, after: null, limit: 10 })).items.length ===
          0,
      );
    },
    'JOB-8 an item’s next version is saved once, alone or with the job that takes over from it': async (
      rig,
    ) => {
      const { item } = await failedItem(rig, 'job_dlq_next');
      const next = { ...item, version: 2, status: 'requeued' as const, requeuedAs: 'job_dlq_heir' };
      const heir = (jobId: string) => rig.prepare(jobId, rig.createCommand(jobId), { dlqItem: next });
      const [first, second] = [await heir('job_dlq_heir'), await heir('job_dlq_rival')];
      deepStrictEqual((await rig.store.commit([first])).replies, [{ ok: true, repeated: false }]);
      deepStrictEqual((await rig.store.commit([second])).replies, [{ ok: false, code: 'DLQ_MOVED' }]);
      deepStrictEqual((await rig.store.commit([first])).replies, [{ ok: true, repeated: true }]);
      equal((await rig.store.load('job_dlq_rival')).found, null);
      deepStrictEqual((await rig.store.dlqItem(item.dlqId)).item, next);
      equal((await rig.store.putDlqItem({ ...next, status: 'discarded' })).saved, false);
      equal((await rig.store.putDlqItem({ ...next, version: 3, status: 'discarded' })).saved, true);
      const open = await rig.store.dlq({ tenantId: null, status: 'open', after: null, limit: 9 });
      deepStrictEqual(open.items, []);
      equal((await rig.store.dlqItem('dlq_nobody')).item, null);
    },
    'dead letters are listed page by page, oldest first': async (rig) => {
      const items = [];
      for (const jobId of ['job_dlq_p1', 'job_dlq_p2', 'job_dlq_p3']) {
        items.push((await failedItem(rig, jobId)).item);
        rig.clock.advance(1);
      }
      const page = async (after: { createdAt: number; dlqId: string } | null) =>
        (await rig.store.dlq({ tenantId: null, status: 'open', after, limit: 2 })).items;
      deepStrictEqual(await page(null), items.slice(0, 2));
      deepStrictEqual(await page(items[1] ?? null), items.slice(2));
    },
  },
};

/** A job that failed for good, with its item. */
async function failedItem(rig: Rig, jobId: string): Promise<{ item: DlqItem }> {
  const { attemptId } = await rig.running(jobId);
  const now = rig.clock.now();
  await rig.give(jobId, command('fail-attempt', { now, attemptId: attemptId ?? '', failure: aFatalFailure }));
  const { item } = await rig.store.dlqItem(`dlq_${jobId}`);
  ok(item, `${jobId} has no item`);
  return { item };
}
