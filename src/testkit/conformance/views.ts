import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { rowOf } from '../../kernel/index.js';
import { aFatalFailure, command } from '../sample-commands.js';
import type { Topic } from './rig.js';

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
          status: null,
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
    'filters by tenant, status and task; rows are what the kernel makes of the job': async (rig) => {
      await rig.create('job_filter_1', { tenantId: 'globex' });
      await rig.create('job_filter_2', { task: 'mail' });
      const job = await rig.running('job_filter_3');
      const list = async (filter: object) =>
        (
          await rig.store.list({
            tenantId: null,
            status: null,
            task: null,
            limit: 10,
            cursor: null,
            ...filter,
          })
        ).rows;
      deepStrictEqual(
        (await list({ tenantId: 'globex', status: 'running' })).map(({ jobId }) => jobId),
        ['job_filter_1'],
      );
      deepStrictEqual(
        (await list({ task: 'mail' })).map(({ jobId }) => jobId),
        ['job_filter_2'],
      );
      deepStrictEqual(await list({ status: 'running', tenantId: 'acme' }), [rowOf(job)]);
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
  },
};

export const deadLetters: Topic = {
  name: 'dead letters',
  cases: {
    'JOB-7 the item is written by the commit that fails the job': async (rig) => {
      const { attemptId } = await rig.running('job_dlq_1');
      deepStrictEqual((await rig.store.dlq({ tenantId: null, status: null, limit: 10 })).items, []);
      await rig.give(
        'job_dlq_1',
        command('fail-attempt', { attemptId: attemptId ?? '', failure: aFatalFailure }),
      );
      const { job } = await rig.load('job_dlq_1');
      equal(job.status, 'failed');
      const { items } = await rig.store.dlq({ tenantId: 'acme', status: 'open', limit: 10 });
      equal(items.length, 1);
      equal(items[0]?.dlqId, job.deadLetter?.dlqId);
      equal(items[0]?.errorCode, 'CARD_DECLINED');
      ok((await rig.store.dlq({ tenantId: 'globex', status: null, limit: 10 })).items.length === 0);
    },
  },
};
