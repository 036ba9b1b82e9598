import { endLease, expireLease, renewLease, type JobRow, type Status } from '../../kernel/index.js';
import { PawlError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { feedIndex } from '../feed-position.js';
import { placeOf } from '../list-cursor.js';
import { localWakeUps } from '../local-wake-ups.js';
import { claim, laneHeads } from './claim.js';
import { save } from './commit.js';
import { controls } from './controls.js';
import { mailbox } from './mailbox.js';
import { strays } from './strays.js';
import { byText, loadKept, Tables } from './tables.js';
import { tallies } from './tallies.js';

/**
 * Keeps everything in this process, and loses it with the process: for development, tests and the simulator.
 * Each call runs in one turn of the event loop, so each is atomic. `tables`: for whoever wants to look at them, too.
 */
export function memoryStore({
  clock,
  tables = new Tables(),
}: {
  clock: Pick<Clock, 'now'>;
  tables?: Tables;
}): Store {
  const { jobs, leases } = tables;
  const now = () => clock.now();

  return {
    commit: async (items) => ({ now: now(), replies: items.map((item) => save(tables, item)) }),
    commitWithin: noTransactions,
    begin: noTransactions,
    claim: async (request) => claim(tables, request, now()),

    async beat({ worker, leaseMs, lanes }) {
      const { incarnation } = worker;
      const lease = leases.get(incarnation) ?? { worker, lanes, leaseUntil: 0, dead: false };
      const renewed = renewLease(lease, { now: now(), leaseMs });
      if (renewed.ok) {
        leases.set(incarnation, { ...lease, ...renewed.lease });
        for (const older of leases.values()) {
          if (older.worker.id === worker.id && older.worker.incarnation < incarnation)
            leases.set(older.worker.incarnation, { ...older, dead: true });
        }
      }
      const held = [...jobs.values()].flatMap(({ row }) =>
        row.incarnation === incarnation && row.attemptId !== null
          ? [{ jobId: row.jobId, attemptId: row.attemptId }]
          : [],
      );
      const { leaseUntil } = renewed.ok ? renewed.lease : lease;
      return { now: now(), alive: renewed.ok, leaseUntil, held };
    },
    async resign({ incarnation }) {
      const lease = leases.get(incarnation);
      const holdsJobs = [...jobs.values()].some(({ row }) => row.incarnation === incarnation);
      const ended = lease ? endLease(lease, { holdsJobs }) : null;
      if (lease && ended) leases.set(incarnation, { ...lease, ...ended });
      return { now: now(), resigned: ended !== null };
    },
    async orphans({ limit }) {
      for (const [incarnation, lease] of leases)
        leases.set(incarnation, { ...lease, ...expireLease(lease, now()) });
      const lost = [...jobs.values()].filter(
        ({ row: { incarnation } }) => incarnation !== null && leases.get(incarnation)?.dead !== false,
      );
      return { now: now(), jobs: lost.slice(0, limit).map(loadKept) };
    },

    async workers({ incarnations }) {
      const wanted = [...leases.values()].filter(({ worker, dead }) =>
        incarnations ? incarnations.includes(worker.incarnation) : !dead,
      );
      return {
        now: now(),
        workers: wanted.toSorted((a, b) => byText(a.worker.incarnation, b.worker.incarnation)),
      };
    },

    async load(jobId) {
      const kept = jobs.get(jobId);
      return { now: now(), found: kept ? loadKept(kept) : null };
    },
    resolve: async (wanted) => ({ now: now(), jobIds: wanted.map((identity) => tables.ownerOf(identity)) }),
    async log(jobId, { fromRev, limit }) {
      return { now: now(), rows: jobs.get(jobId)?.log.slice(fromRev - 1, fromRev - 1 + limit) ?? [] };
    },
    async due({ limit, except }) {
      const dueAt = ({ wakeAt, deadlineAt }: JobRow) => Math.min(wakeAt ?? Infinity, deadlineAt ?? Infinity);
      const rows = [...jobs.values()].map(({ row }) => row);
      const found = rows
        .filter((row) => dueAt(row) <= now() && !except.includes(row.jobId))
        .toSorted((a, b) => dueAt(a) - dueAt(b));
      return { now: now(), jobIds: found.slice(0, limit).map(({ jobId }) => jobId) };
    },
    async list({ tenantId, statuses, task, limit, cursor }) {
      const matches = (row: JobRow) =>
        row.tenantId === (tenantId ?? row.tenantId) &&
        (statuses?.includes(row.status) ?? true) &&
        row.task === (task ?? row.task);
      const place = placeOf(cursor);
      const newestFirst = [...jobs.values()].toReversed();
      const from = newestFirst.filter(({ bornAt }) => bornAt >= place).length;
      const found = newestFirst.slice(from).filter(({ row }) => matches(row));
      const page = found.slice(0, limit);
      const places = page.map(({ bornAt }) => `${bornAt}`);
      const next = found.length > limit ? (places.at(-1) ?? null) : null;
      return { now: now(), rows: page.map(({ row }) => row), places, next };
    },
    async counts({ tenantId }) {
      const counts: Partial<Record<Status, number>> = {};
      for (const { row } of jobs.values()) {
        if (row.tenantId === (tenantId ?? row.tenantId)) counts[row.status] = (counts[row.status] ?? 0) + 1;
      }
      return { now: now(), counts };
    },
    async feed({ after, limit }) {
      const from = feedIndex(after);
      const first = tables.feedFrom(from);
      const rows = tables.feed.slice(first, first + limit);
      return { now: now(), rows: rows.map((row) => ({ ...row, position: `${row.position}` })) };
    },
    heads: async ({ limit }) => ({ now: now(), heads: laneHeads(tables, now()).slice(0, limit) }),
    feedEnd: async () => ({ now: now(), position: `${tables.lastPosition}` }),
    feedHeldBack: async () => ({ now: now(), since: null }),
    async dlq({ tenantId, status, after, limit }) {
      const items = [...tables.dlq.values()]
        .filter(
          (item) => item.tenantId === (tenantId ?? item.tenantId) && item.status === (status ?? item.status),
        )
        .toSorted((a, b) => a.createdAt - b.createdAt || byText(a.dlqId, b.dlqId))
        .filter(
          ({ createdAt, dlqId }) =>
            after === null ||
            createdAt > after.createdAt ||
            (createdAt === after.createdAt && dlqId > after.dlqId),
        );
      return { now: now(), items: items.slice(0, limit) };
    },
    dlqItem: async (dlqId) => ({ now: now(), item: tables.dlq.get(dlqId) ?? null }),
    async putDlqItem(item) {
      const saved = item.version > 1 && tables.isNextOf(item);
      if (saved) tables.dlq.set(item.dlqId, structuredClone(item));
      return { now: now(), saved };
    },
    ...tallies(tables, now),
    ...mailbox(tables, now),
    ...controls(tables, now),
    ...strays(tables, now),
    ...localWakeUps(),
    async close() {
      jobs.clear();
    },
  };
}

const noTransactions = (): Promise<never> =>
  Promise.reject(new PawlError('TX_UNSUPPORTED', { detail: 'memory has no transactions' }));
