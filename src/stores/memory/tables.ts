import { must, type DlqItem, type JobRow, type JsonText } from '../../kernel/index.js';
import type {
  StoredRecord,
  WorkerEntry,
  EffectResult,
  EntryRef,
  HoldReason,
  Identity,
  Loaded,
  LogRow,
  Message,
  OutboxEntry,
  PausedQueue,
  Schedule,
} from '../../ports/store.js';
import { assembleFrom, creationOf, type Creation } from '../job-state.js';

/** A job as it is kept: text and plain rows, nothing that a caller still holds a reference to. */
export type Kept = {
  row: JobRow;
  state: JsonText;
  inboxRev: number;
  held: HoldReason | null;
  /** Where the feed stood when it was created: older jobs have less. */
  readonly bornAt: number;
  /** Taken when it was created. */
  readonly identities: readonly Identity[];
  readonly log: LogRow[];
  /** What its first row says, once somebody has asked. */
  creation: Creation | null;
  readonly inbox: Map<string, Message & { consumed: boolean }>;
  readonly effects: Map<string, EffectResult>;
};

/** Everything that the store holds. */
export class Tables {
  readonly jobs = new Map<string, Kept>();
  readonly feed: (LogRow & { readonly position: number })[] = [];
  /** Positions are never used again, even if their rows are deleted. */
  lastPosition = 0;
  readonly dlq = new Map<string, DlqItem>();
  readonly rates = new Map<string, string>();
  readonly records = new Map<string, StoredRecord>();
  readonly leases = new Map<string, WorkerEntry>();
  readonly paused = new Map<string, PausedQueue>();
  readonly schedules = new Map<string, Schedule>();
  readonly outbox = new Map<string, Omit<OutboxEntry, 'dueAt'> & { dueAt: number | null }>();
  readonly #owners = new Map<string, { readonly jobId: string; expiresAt: number | null }>();

  /** Where the feed goes on behind a position. Positions only ever grow. */
  feedFrom(position: number): number {
    let low = 0;
    let high = this.feed.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.feed[middle]?.position ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Is it what follows the version that is there? */
  isNextOf({ dlqId, version }: DlqItem): boolean {
    return (this.dlq.get(dlqId)?.version ?? 0) === version - 1;
  }

  ownerOf(identity: Identity): string | null {
    return this.#owners.get(keyOf(identity))?.jobId ?? null;
  }

  own(identity: Identity, jobId: string): void {
    this.#owners.set(keyOf(identity), { jobId, expiresAt: null });
  }

  disown(identity: Identity): void {
    this.#owners.delete(keyOf(identity));
  }

  /** For as long as the job still owns it. */
  outlive(identity: Identity, { jobId, expiresAt }: { jobId: string; expiresAt: number }): void {
    const owner = this.#owners.get(keyOf(identity));
    if (owner?.jobId === jobId) owner.expiresAt = expiresAt;
  }

  /** Forgets identities whose time is over, and says how many. */
  expireIdentities(now: number): number {
    const expired = [...this.#owners].filter(([, { expiresAt }]) => expiresAt !== null && expiresAt <= now);
    for (const [key] of expired) this.#owners.delete(key);
    return expired.length;
  }
}

/** The row of its log that its row stands for, and whatever came after. */
export function loadKept(kept: Kept): Loaded {
  const { row, state, inboxRev, log } = kept;
  kept.creation ??= creationOf(row.jobId, must(log[0], 'a job has a first row').body);
  const stored = {
    job_id: row.jobId,
    status: row.status,
    rev: row.rev,
    attempt_id: row.attemptId,
    incarnation: row.incarnation,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    finished_at: row.finishedAt,
    inbox_rev: inboxRev,
    state,
  };
  return assembleFrom(stored, kept.creation, log.slice(row.rev - 1));
}

export function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function keyOf({ tenantId, kind, value }: Identity): string {
  return JSON.stringify([tenantId, kind, value]);
}

export function entryKey({ step, occurrence, entry }: EntryRef): string {
  return JSON.stringify([step, occurrence, entry]);
}
