import { deepStrictEqual, equal, rejects } from 'node:assert/strict';
import { queueOf, rowOf, type JobRow, type Status } from '../../kernel/index.js';
import type { JobList, ListFilter } from '../../ports/store.js';
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
    'of any tenant, states and task, page by page: what fits, and the counts are those of the lists': async (
      rig,
    ) => {
      await inEveryState(rig);
      const all = (await rig.store.list({ ...EVERY, limit: 100 })).rows;
      const statuses = [...new Set(all.map(({ status }) => status))];
      deepStrictEqual([all.length, statuses.length], [42, 7]);
      for (const tenantId of [null, ...TENANTS, 'nobody']) {
        const own = all.filter((row) => tenantId === null || row.tenantId === tenantId);
        for (const wanted of [null, ...statuses.map((status) => [status]), ...COMBINED]) {
          for (const task of [null, 'order', 'mail']) {
            const fits = own.filter(
              (row) => (wanted?.includes(row.status) ?? true) && (task === null || row.task === task),
            );
            deepStrictEqual(await pages(rig, { tenantId, statuses: wanted, task }), fits);
          }
        }
        const { counts } = await rig.store.counts({ tenantId });
        const counted = statuses.map((one) => [one, own.filter(({ status }) => status === one).length]);
        deepStrictEqual(counts, Object.fromEntries(counted.filter(([, count]) => count !== 0)));
      }
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

const EVERY = { tenantId: null, statuses: null, task: null, cursor: null };
/** The first is that of those who know of none. */
const TENANTS = ['default', 'acme', 'globex'];
const COMBINED: readonly (readonly Status[])[] = [
  [],
  ['failed', 'cancelled'],
  ['cancelled', 'running', 'waiting'],
  ['succeeded', 'failed'],
  ['scheduled', 'succeeded', 'queued'],
];

/** A job in each of seven states, of each tenant and of two tasks. */
async function inEveryState(rig: Rig): Promise<void> {
  for (const tenantId of TENANTS) {
    for (const task of ['order', 'mail']) {
      const id = (state: string): string => `job_${state}_${tenantId}_${task}`;
      const spec = { tenantId, task };
      await rig.create(id('later'), { ...spec, scheduledAt: rig.clock.now() + 60_000 });
      const ends = {
        failed: command('fail-attempt', { failure: aFatalFailure }),
        succeeded: command('complete'),
      };
      for (const [state, given] of Object.entries(ends)) {
        const { attemptId } = await rig.running(id(state), spec);
        await rig.give(id(state), { ...given, attemptId: attemptId ?? '' });
      }
      const { attemptId } = await rig.running(id('waiting'), spec);
      await rig.give(id('waiting'), command('begin-wait', { attemptId: attemptId ?? '' }));
      await rig.running(id('running'), spec);
      await rig.create(id('queued'), spec);
      await rig.create(id('cancelled'), spec);
      await rig.give(id('cancelled'), command('cancel'));
    }
  }
}

/** All of a list, two at a time. */
async function pages(rig: Rig, filter: Omit<ListFilter, 'limit' | 'cursor'>): Promise<JobRow[]> {
  const rows: JobRow[] = [];
  for (let cursor: string | null = null; ;) {
    const page: JobList = await rig.store.list({ ...filter, limit: 2, cursor });
    rows.push(...page.rows);
    cursor = page.next;
    if (cursor === null) return rows;
  }
}
