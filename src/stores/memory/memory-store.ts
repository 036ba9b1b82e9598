import {
  expireLease,
  isLeaseOver,
  renewLease,
  rowOf,
  type DlqItem,
  type JobRow,
  type Status,
  type WorkerLease,
  type WorkerRef,
} from '../../kernel/index.js';
import type { Clock } from '../../ports/clock.js';
import type {
  Beat,
  ClaimRequest,
  CommitItem,
  CommitReply,
  EffectResult,
  Identity,
  ListFilter,
  Loaded,
  LogRow,
  Message,
  NewMessage,
  Store,
} from '../../ports/store.js';
import { takeTurns } from '../fair-turns.js';
import { assemble, encodeState } from '../job-state.js';

/** A job as it is kept: what was acknowledged, and nothing that a caller still holds a reference to. */
type Kept = {
  row: JobRow;
  state: string;
  inboxRev: number;
  readonly log: LogRow[];
  readonly inbox: Map<string, Message & { consumed: boolean }>;
  readonly effects: Map<string, EffectResult>;
};

/**
 * Keeps everything in this process, and loses it with the process: for development, tests and the simulator.
 * Each call runs in one turn of the event loop, so each is atomic.
 */
export function memoryStore({ clock }: { clock: Pick<Clock, 'now'> }): Store {
  const jobs = new Map<string, Kept>();
  const feed: LogRow[] = [];
  const identities = new Map<string, string>();
  const workers = new Map<string, { readonly ref: WorkerRef; lease: WorkerLease }>();
  const dlq: DlqItem[] = [];

  const reply = async <T extends object>(body: T): Promise<T & { now: number }> => ({
    ...body,
    now: clock.now(),
  });
  const ownerOf = ({ tenantId, kind, value }: Identity) =>
    identities.get(JSON.stringify([tenantId, kind, value])) ?? null;

  function load(kept: Kept): Loaded {
    const first = kept.log.slice(0, 1);
    const tail = kept.log.slice(Math.max(1, kept.row.rev - 1));
    return assemble({ state: kept.state, inboxRev: kept.inboxRev, rows: [...first, ...tail] });
  }

  function save(item: CommitItem): CommitReply {
    const kept = jobs.get(item.jobId);
    const there = kept?.log[item.rev - 1];
    if (there)
      return there.commandId === item.commandId
        ? { ok: true, repeated: true }
        : { ok: false, code: 'REV_TAKEN' };
    if (item.rev !== (kept?.log.length ?? 0) + 1) return { ok: false, code: 'REV_TAKEN' };
    const owners = item.identities.map(ownerOf);
    if (owners.some((owner) => owner !== null)) return { ok: false, code: 'IDENTITY_TAKEN', owners };
    if (
      kept &&
      item.attemptId !== null &&
      (kept.row.attemptId !== item.attemptId || kept.row.incarnation === null)
    ) {
      return { ok: false, code: 'ATTEMPT_GONE' };
    }
    if (kept && item.inboxRev !== null && kept.inboxRev !== item.inboxRev)
      return { ok: false, code: 'INBOX_MOVED' };
    write(item, kept);
    return { ok: true, repeated: false };
  }

  function write(
    { jobId, rev, commandId, body, link, job, identities: taken, dlqItem, consumed }: CommitItem,
    kept: Kept | undefined,
  ): void {
    const log = { jobId, rev, commandId, body, link };
    if (kept) {
      kept.log.push(log);
      if (job) Object.assign(kept, { row: rowOf(job), state: encodeState(job) });
    } else if (job) {
      jobs.set(jobId, {
        row: rowOf(job),
        state: encodeState(job),
        inboxRev: 0,
        log: [log],
        inbox: new Map(),
        effects: new Map(),
      });
    }
    feed.push(log);
    for (const { tenantId, kind, value } of taken)
      identities.set(JSON.stringify([tenantId, kind, value]), jobId);
    for (const key of consumed) Object.assign(kept?.inbox.get(key) ?? {}, { consumed: true });
    if (dlqItem) dlq.push(structuredClone(dlqItem));
  }

  return {
    commit: (items) => reply({ replies: items.map(save) }),

    claim({ worker, lanes, limit, afterTenant, decide }: ClaimRequest) {
      const now = clock.now();
      if (workers.get(worker.incarnation)?.lease.dead !== false)
        return reply({ alive: false, jobs: [], lastTenant: afterTenant });
      const due = [...jobs.values()].filter(
        ({ row }) =>
          lanes.includes(row.lane) &&
          row.dueAt !== null &&
          row.dueAt <= now &&
          (row.deadlineAt === null || now < row.deadlineAt),
      );
      const inTurn = (a: Kept, b: Kept) =>
        b.row.priority - a.row.priority ||
        (a.row.dueAt ?? 0) - (b.row.dueAt ?? 0) ||
        byText(a.row.jobId, b.row.jobId);
      const { picked, lastTenant } = takeTurns(
        {
          tenantsAfter: (after, most) =>
            [...new Set(due.map(({ row }) => row.tenantId))]
              .filter((tenant) => tenant > after)
              .toSorted()
              .slice(0, most),
          of: (tenant, most) =>
            due
              .filter(({ row }) => row.tenantId === tenant)
              .toSorted(inTurn)
              .slice(0, most),
        },
        { afterTenant, limit },
      );
      const claimed = picked.flatMap((kept) => {
        const item = decide(load(kept), now);
        return item?.job && save(item).ok ? [item.job] : [];
      });
      return reply({ alive: true, jobs: claimed, lastTenant });
    },

    beat({ worker, leaseMs }: Beat) {
      const now = clock.now();
      const known = workers.get(worker.incarnation) ?? { ref: worker, lease: { leaseUntil: 0, dead: false } };
      const renewed = renewLease(known.lease, { now, leaseMs });
      if (renewed.ok) workers.set(worker.incarnation, { ref: worker, lease: renewed.lease });
      const held = [...jobs.values()].flatMap(({ row: { incarnation, jobId, attemptId } }) =>
        incarnation === worker.incarnation && attemptId !== null ? [{ jobId, attemptId }] : [],
      );
      return reply({
        alive: renewed.ok,
        leaseUntil: renewed.ok ? renewed.lease.leaseUntil : known.lease.leaseUntil,
        held,
      });
    },

    orphans({ limit }) {
      const now = clock.now();
      for (const known of workers.values()) known.lease = expireLease(known.lease, now) ?? known.lease;
      const lost = [...jobs.values()].filter(({ row }) => {
        if (row.incarnation === null) return false;
        const lease = workers.get(row.incarnation)?.lease;
        return lease === undefined || lease.dead || isLeaseOver(lease, now);
      });
      return reply({ jobs: lost.slice(0, limit).map(load) });
    },

    putEffect({ jobId, step, occurrence, entry, result }: EffectResult) {
      const effects = jobs.get(jobId)?.effects;
      const key = JSON.stringify([step, occurrence, entry]);
      const known = effects?.get(key);
      const first =
        effects !== undefined && (known === undefined || (known.result === null && result !== null));
      if (first) effects.set(key, { jobId, step, occurrence, entry, result });
      return reply({ first });
    },
    effects(jobId) {
      const results = [...(jobs.get(jobId)?.effects.values() ?? [])];
      return reply({
        results: results.toSorted(
          (a, b) => byText(a.step, b.step) || a.occurrence - b.occurrence || a.entry - b.entry,
        ),
      });
    },

    putMessage({ jobId, key, payload }: NewMessage) {
      const kept = jobs.get(jobId);
      if (!kept) return reply({ outcome: 'no job' as const });
      if (kept.inbox.has(key)) return reply({ outcome: 'repeated' as const });
      kept.inbox.set(key, { jobId, key, payload, receivedAt: clock.now(), consumed: false });
      kept.inboxRev += 1;
      return reply({ outcome: 'kept' as const });
    },
    inbox(jobId) {
      const kept = jobs.get(jobId);
      const open = [...(kept?.inbox.values() ?? [])].filter(({ consumed }) => !consumed);
      const messages = open
        .map(({ key, payload, receivedAt }) => ({ jobId, key, payload, receivedAt }))
        .toSorted((a, b) => a.receivedAt - b.receivedAt || byText(a.key, b.key));
      return reply({ messages, inboxRev: kept?.inboxRev ?? 0 });
    },

    load(jobId) {
      const kept = jobs.get(jobId);
      return reply({ found: kept ? load(kept) : null });
    },
    resolve: (wanted) => reply({ jobIds: wanted.map(ownerOf) }),
    log: (jobId, { fromRev, limit }) =>
      reply({ rows: jobs.get(jobId)?.log.slice(fromRev - 1, fromRev - 1 + limit) ?? [] }),

    due({ limit }) {
      const now = clock.now();
      const isDue = ({ wakeAt, deadlineAt }: JobRow) =>
        (wakeAt !== null && wakeAt <= now) || (deadlineAt !== null && deadlineAt <= now);
      const found = [...jobs.values()].filter(({ row }) => isDue(row)).map(({ row }) => row.jobId);
      return reply({ jobIds: found.slice(0, limit) });
    },

    list({ tenantId, status, task, limit, cursor }: ListFilter) {
      const newestFirst = [...jobs.values()].map(({ row }) => row).toReversed();
      const from = cursor === null ? 0 : newestFirst.findIndex(({ jobId }) => jobId === cursor) + 1;
      const matching = newestFirst
        .slice(from)
        .filter(
          (row) =>
            (tenantId ?? row.tenantId) === row.tenantId &&
            (status ?? row.status) === row.status &&
            (task ?? row.task) === row.task,
        );
      const rows = matching.slice(0, limit);
      return reply({ rows, next: matching.length > limit ? (rows.at(-1)?.jobId ?? null) : null });
    },
    counts({ tenantId }) {
      const counts: Partial<Record<Status, number>> = {};
      for (const { row } of jobs.values()) {
        if ((tenantId ?? row.tenantId) === row.tenantId) counts[row.status] = (counts[row.status] ?? 0) + 1;
      }
      return reply({ counts });
    },
    feed: ({ after, limit }) =>
      reply({
        rows: feed.slice(after, after + limit).map((row, i) => ({ ...row, position: after + i + 1 })),
      }),
    dlq({ tenantId, status, limit }) {
      const items = dlq.filter(
        (item) => (tenantId ?? item.tenantId) === item.tenantId && (status ?? item.status) === item.status,
      );
      return reply({ items: items.slice(0, limit) });
    },
    async close() {
      jobs.clear();
    },
  };
}

function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
