import { dlqIdOf } from '../../kernel/index.js';
import type { OutboxEntry, PurgeGuard, RecordRef, ScheduleRef, Store } from '../../ports/store.js';
import { isForAPlace, isOld, isUnchanged, PLACE, WORKERS_KEPT_MS } from '../retention.js';
import { byText, type Kept, type Tables } from './tables.js';

type Controls = Pick<
  Store,
  | 'hold'
  | 'release'
  | 'heldFor'
  | 'pauseQueue'
  | 'pausedQueues'
  | 'putSchedule'
  | 'schedule'
  | 'deleteSchedule'
  | 'schedules'
  | 'dueSchedules'
  | 'putRecord'
  | 'record'
  | 'records'
  | 'deleteRecord'
  | 'takeOutbox'
  | 'settleOutbox'
  | 'deadOutbox'
  | 'aged'
  | 'purge'
>;

/** Holds and pauses, schedules, the outbox and retention. */
export function controls(tables: Tables, now: () => number): Controls {
  const { jobs, paused, schedules, records, outbox } = tables;
  const keyOf = ({ tenantId, scheduleId }: ScheduleRef) => JSON.stringify([tenantId, scheduleId]);
  const recordKey = ({ kind, tenantId, id }: RecordRef) => [kind, tenantId, id].join('\u001f');
  const byName = (a: ScheduleRef, b: ScheduleRef) =>
    byText(a.tenantId, b.tenantId) || byText(a.scheduleId, b.scheduleId);
  const inOrder = () => [...schedules.values()].toSorted(byName);

  return {
    async hold({ jobIds, reason, by }) {
      const free = jobIds.flatMap((jobId) => jobs.get(jobId) ?? []).filter(({ held }) => held === null);
      for (const kept of new Set(free)) kept.held = { reason, by, since: now() };
      return { now: now(), changed: new Set(free).size };
    },
    async release(jobIds) {
      const held = jobIds.flatMap((jobId) => jobs.get(jobId) ?? []).filter((kept) => kept.held !== null);
      for (const kept of held) kept.held = null;
      return { now: now(), changed: new Set(held).size };
    },
    heldFor: async (jobId) => ({ now: now(), hold: jobs.get(jobId)?.held ?? null }),
    async pauseQueue({ queue, paused: pause, by }) {
      if (!pause) paused.delete(queue);
      else if (!paused.has(queue)) paused.set(queue, { queue, by, since: now() });
      return { now: now() };
    },
    async pausedQueues() {
      return { now: now(), queues: [...paused.values()].toSorted((a, b) => byText(a.queue, b.queue)) };
    },

    async putSchedule(schedule, expected, known) {
      const isSeen = !known || (records.get(recordKey(known.record))?.version ?? 0) === known.expected;
      const saved = isSeen && (schedules.get(keyOf(schedule))?.version ?? 0) === expected;
      if (saved) schedules.set(keyOf(schedule), { ...schedule });
      if (saved && known) records.set(recordKey(known.record), { ...known.record });
      return { now: now(), saved };
    },
    schedule: async (ref) => ({ now: now(), schedule: schedules.get(keyOf(ref)) ?? null }),
    deleteSchedule: async (ref) => ({ now: now(), deleted: schedules.delete(keyOf(ref)) }),
    async schedules({ tenantId, after, limit }) {
      const found = inOrder().filter(
        (schedule) =>
          schedule.tenantId === (tenantId ?? schedule.tenantId) &&
          (after === null || byName(schedule, after) > 0),
      );
      return { now: now(), schedules: found.slice(0, limit) };
    },
    async dueSchedules({ limit }) {
      const due = inOrder()
        .filter(({ nextFireAt }) => nextFireAt !== null && nextFireAt <= now())
        .toSorted((a, b) => (a.nextFireAt ?? 0) - (b.nextFireAt ?? 0));
      return { now: now(), schedules: due.slice(0, limit) };
    },

    async putRecord(record, expected, mail = []) {
      const key = recordKey(record);
      const saved = (records.get(key)?.version ?? 0) === expected;
      if (saved) records.set(key, { ...record });
      for (const entry of saved ? mail : []) {
        if (!outbox.has(entry.entryId)) outbox.set(entry.entryId, { ...entry, jobId: null, tries: 0 });
      }
      return { now: now(), saved };
    },
    record: async (ref) => ({ now: now(), record: records.get(recordKey(ref)) ?? null }),
    async records({ kind, tenantId, after, limit }) {
      const from = after && recordKey({ kind, ...after });
      const found = [...records.entries()]
        .filter(([key, record]) => record.kind === kind && (from === null || key > from))
        .filter(([, record]) => record.tenantId === (tenantId ?? record.tenantId))
        .toSorted(([a], [b]) => byText(a, b));
      return { now: now(), records: found.slice(0, limit).map(([, record]) => record) };
    },
    deleteRecord: async (ref) => ({ now: now(), deleted: records.delete(recordKey(ref)) }),

    async takeOutbox({ kind, limit, leaseMs }) {
      const due = [...outbox.values()]
        .filter(
          (entry): entry is OutboxEntry =>
            entry.kind === kind && entry.dueAt !== null && entry.dueAt <= now(),
        )
        .toSorted((a, b) => a.dueAt - b.dueAt || byText(a.entryId, b.entryId))
        .slice(0, limit)
        .map((entry) => ({ ...entry, tries: entry.tries + 1 }));
      for (const entry of due) outbox.set(entry.entryId, { ...entry, dueAt: now() + leaseMs });
      return { now: now(), entries: due };
    },
    async settleOutbox(outcomes) {
      for (const settled of outcomes) {
        const entry = outbox.get(settled.entryId);
        if (settled.outcome === 'done') outbox.delete(settled.entryId);
        else if (entry) entry.dueAt = settled.outcome === 'again' ? settled.dueAt : null;
      }
      return { now: now() };
    },
    async deadOutbox({ kind, after = null, limit }) {
      const dead = [...outbox.values()]
        .filter(
          ({ entryId, ...entry }) => entry.kind === kind && entry.dueAt === null && entryId > (after ?? ''),
        )
        .toSorted((a, b) => byText(a.entryId, b.entryId));
      return { now: now(), entries: dead.slice(0, limit).map((entry) => ({ ...entry, dueAt: 0 })) };
    },

    async aged(page) {
      const from = Number(page.after ?? 0);
      const looked = [...jobs.values()].filter(({ bornAt }) => bornAt > from).slice(0, page.limit);
      const openItems = new Set(
        [...tables.dlq.values()].flatMap(({ status, jobId }) => (status === 'open' ? [jobId] : [])),
      );
      const aged = looked.flatMap(({ row: { jobId, tenantId, task, status, finishedAt }, identities }) =>
        finishedAt !== null && isOld(page, { task, status, finishedAt }) && !openItems.has(jobId)
          ? [{ jobId, tenantId, task, status, finishedAt, identities }]
          : [],
      );
      const last = looked.at(-1);
      const next = last && looked.length === page.limit ? `${last.bornAt}` : null;
      return { now: now(), jobs: aged, next };
    },
    async purge({ jobs: asked, identityTtlMs }) {
      const placeOf = ({ row }: Kept) => ({ tenantId: row.tenantId, kind: PLACE, value: row.jobId });
      const gone = asked.flatMap(({ jobId, guard, place }) => {
        const kept = jobs.get(jobId);
        if (!kept || kept.row.finishedAt === null || !isUnchanged(guard, stateOf(kept))) return [];
        return place === undefined || tables.ownerOf(placeOf(kept)) === place ? [kept] : [];
      });
      for (const one of gone) {
        const { row, identities } = one;
        const kept = { jobId: row.jobId, expiresAt: now() + identityTtlMs };
        for (const identity of identities) if (!isForAPlace(identity)) tables.outlive(identity, kept);
        tables.disown(placeOf(one));
        tables.dlq.delete(dlqIdOf(row.jobId));
        jobs.delete(row.jobId);
      }
      const holders = new Set([...jobs.values()].map(({ row }) => row.incarnation));
      for (const [incarnation, { dead, leaseUntil }] of tables.leases) {
        const isForgotten = dead && leaseUntil < now() - WORKERS_KEPT_MS && !holders.has(incarnation);
        if (isForgotten) tables.leases.delete(incarnation);
      }
      const ids = new Set(gone.map(({ row }) => row.jobId));
      let left = 0;
      for (const row of tables.feed) if (!ids.has(row.jobId)) tables.feed[left++] = row;
      tables.feed.length = left;
      return { now: now(), jobs: ids.size, identities: tables.expireIdentities(now()) };
    },
  };
}

function stateOf({ inboxRev, effects }: Kept): PurgeGuard {
  const results = [...effects.values()].filter(({ result }) => result !== null);
  return { inboxRev, effects: effects.size, results: results.length };
}
