import { expireLease, renewLease, type JobRow, type Status } from '../../kernel/index.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { claim } from './claim.js';
import { save } from './commit.js';
import { byText, loadKept, Tables } from './tables.js';

/**
 * Keeps everything in this process, and loses it with the process: for development, tests and the simulator.
 * Each call runs in one turn of the event loop, so each is atomic.
 */
export function memoryStore({ clock }: { clock: Pick<Clock, 'now'> }): Store {
  const tables = new Tables();
  const { jobs, leases } = tables;
  const now = () => clock.now();

  return {
    commit: async (items) => ({ now: now(), replies: items.map((item) => save(tables, item)) }),
    claim: async (request) => claim(tables, request, now()),

    async beat({ worker: { incarnation }, leaseMs }) {
      const lease = leases.get(incarnation) ?? { leaseUntil: 0, dead: false };
      const renewed = renewLease(lease, { now: now(), leaseMs });
      if (renewed.ok) leases.set(incarnation, renewed.lease);
      const held = [...jobs.values()].flatMap(({ row }) =>
        row.incarnation === incarnation && row.attemptId !== null
          ? [{ jobId: row.jobId, attemptId: row.attemptId }]
          : [],
      );
      const { leaseUntil } = renewed.ok ? renewed.lease : lease;
      return { now: now(), alive: renewed.ok, leaseUntil, held };
    },
    async orphans({ limit }) {
      for (const [incarnation, lease] of leases) leases.set(incarnation, expireLease(lease, now()) ?? lease);
      const lost = [...jobs.values()].filter(
        ({ row: { incarnation } }) => incarnation !== null && leases.get(incarnation)?.dead !== false,
      );
      return { now: now(), jobs: lost.slice(0, limit).map(loadKept) };
    },

    async putEffect(put) {
      const effects = jobs.get(put.jobId)?.effects;
      const key = JSON.stringify([put.step, put.occurrence, put.entry]);
      const known = effects?.get(key);
      const first = effects !== undefined && (!known || (known.result === null && put.result !== null));
      if (first) effects.set(key, { ...put });
      return { now: now(), first };
    },
    async effects(jobId) {
      const results = [...(jobs.get(jobId)?.effects.values() ?? [])].toSorted(
        (a, b) => byText(a.step, b.step) || a.occurrence - b.occurrence || a.entry - b.entry,
      );
      return { now: now(), results };
    },
    async putMessage({ jobId, key, payload }) {
      const kept = jobs.get(jobId);
      if (!kept) return { now: now(), outcome: 'no job' };
      if (kept.inbox.has(key)) return { now: now(), outcome: 'repeated' };
      kept.inbox.set(key, { jobId, key, payload, receivedAt: now(), consumed: false });
      kept.inboxRev += 1;
      return { now: now(), outcome: 'kept' };
    },
    async inbox(jobId) {
      const kept = jobs.get(jobId);
      const messages = [...(kept?.inbox.values() ?? [])]
        .filter(({ consumed }) => !consumed)
        .map(({ key, payload, receivedAt }) => ({ jobId, key, payload, receivedAt }))
        .toSorted((a, b) => a.receivedAt - b.receivedAt || byText(a.key, b.key));
      return { now: now(), messages, inboxRev: kept?.inboxRev ?? 0 };
    },

    async load(jobId) {
      const kept = jobs.get(jobId);
      return { now: now(), found: kept ? loadKept(kept) : null };
    },
    resolve: async (wanted) => ({ now: now(), jobIds: wanted.map((identity) => tables.ownerOf(identity)) }),
    async log(jobId, { fromRev, limit }) {
      return { now: now(), rows: jobs.get(jobId)?.log.slice(fromRev - 1, fromRev - 1 + limit) ?? [] };
    },
    async due({ limit }) {
      const isDue = (at: number | null) => at !== null && at <= now();
      const found = [...jobs.values()].filter(({ row }) => isDue(row.wakeAt) || isDue(row.deadlineAt));
      return { now: now(), jobIds: found.slice(0, limit).map(({ row }) => row.jobId) };
    },
    async list({ tenantId, status, task, limit, cursor }) {
      const matches = (row: JobRow) =>
        row.tenantId === (tenantId ?? row.tenantId) &&
        row.status === (status ?? row.status) &&
        row.task === (task ?? row.task);
      const newestFirst = [...jobs.values()].map(({ row }) => row).toReversed();
      const from = cursor === null ? 0 : newestFirst.findIndex(({ jobId }) => jobId === cursor) + 1;
      const found = newestFirst.slice(from).filter(matches);
      const rows = found.slice(0, limit);
      return { now: now(), rows, next: found.length > limit ? (rows.at(-1)?.jobId ?? null) : null };
    },
    async counts({ tenantId }) {
      const counts: Partial<Record<Status, number>> = {};
      for (const { row } of jobs.values()) {
        if (row.tenantId === (tenantId ?? row.tenantId)) counts[row.status] = (counts[row.status] ?? 0) + 1;
      }
      return { now: now(), counts };
    },
    async feed({ after, limit }) {
      const from = Number(after ?? 0);
      const rows = tables.feed
        .slice(from, from + limit)
        .map((row, i) => ({ ...row, position: `${from + i + 1}` }));
      return { now: now(), rows };
    },
    async dlq({ tenantId, status, limit }) {
      const items = tables.dlq.filter(
        (item) => item.tenantId === (tenantId ?? item.tenantId) && item.status === (status ?? item.status),
      );
      return { now: now(), items: items.slice(0, limit) };
    },
    async close() {
      jobs.clear();
    },
  };
}
