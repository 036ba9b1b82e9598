import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict';
import type { DlqItem } from '../../kernel/index.js';
import { aFatalFailure, command } from '../sample-commands.js';
import type { Rig, Topic } from './rig.js';

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
