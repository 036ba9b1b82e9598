import type { DlqItem, DlqStatus, Status, Timestamp, WorkerRef } from '../kernel/index.js';
import type {
  Reply,
  StoreTransaction,
  CommitItem,
  Identity,
  CommitReplies,
  CommitWithin,
  ClaimRequest,
  Claimed,
  Beat,
  WorkerEntry,
  BeatReply,
  Loaded,
  LogRow,
  FeedPosition,
  EffectResult,
  NewMessage,
  Message,
  JobList,
  ListFilter,
  LaneHead,
  HoldReason,
  Hold,
  PausedQueue,
  ScheduleRef,
  Schedule,
  RecordKind,
  RecordPut,
  RecordRef,
  StoredRecord,
  TenantCount,
  LiveCount,
  NewOutboxEntry,
  OutboxKind,
  OutboxEntry,
  OutboxOutcome,
} from './store-data.js';
import type { Aged, AgedPage, Purge, Purged, Stray } from './deleted-jobs.js';

export type * from './store-data.js';
export type * from './deleted-jobs.js';

/**
 * Where jobs live. A store is passive: the kernel has decided, the store saves if nothing has come between, finds
 * what is due, and compares times. Every reply carries the store's own time, the only one that counts.
 */
export interface Store {
  /** Saves commits, each of them whole or not at all. All that it accepts is durable when it returns. */
  commit(items: readonly CommitItem[]): Promise<CommitReplies>;
  /**
   * Saves commits within a transaction that the application has open on this database: they become visible with it
   * and vanish with it. `TX_UNSUPPORTED` where the store cannot.
   */
  commitWithin(tx: unknown, items: readonly CommitItem[]): Promise<CommitWithin>;
  /** Opens a transaction for writes of the application that end with a commit. `TX_UNSUPPORTED` where there are none. */
  begin(): Promise<StoreTransaction>;
  /** Takes jobs that are due for a worker, tenants in turn. */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** Registers a worker's incarnation or prolongs its lease, and tells what it holds. Older ones of its id are dead. */
  beat(beat: Beat): Promise<BeatReply>;
  /** Declares a worker dead that stops, unless it still holds jobs. */
  resign(worker: WorkerRef): Promise<Reply<{ readonly resigned: boolean }>>;
  /** These incarnations, or all that are not dead; unknown ones are left out. */
  workers(filter: {
    incarnations: readonly string[] | null;
  }): Promise<Reply<{ readonly workers: readonly WorkerEntry[] }>>;
  /** Declares leases that ran out dead, for good, and finds the running jobs that nobody alive holds. */
  orphans(page: { limit: number }): Promise<Reply<{ readonly jobs: readonly Loaded[] }>>;
  /**
   * Keeps the result of an effect's entry, or that its body ended without one. The first writer wins; not fenced. `awaitedBy`:
   * the attempt that still waits for it, told to whoever has to find out whether it comes too late.
   */
  putEffect(result: EffectResult, awaitedBy?: string | null): Promise<Reply<{ readonly first: boolean }>>;
  /** Ordered by step, occurrence and entry. */
  effects(jobId: string): Promise<Reply<{ readonly results: readonly EffectResult[] }>>;
  /** Puts a message into a job's inbox, for ever once for each key. */
  putMessage(message: NewMessage): Promise<Reply<{ readonly outcome: 'kept' | 'repeated' | 'no job' }>>;
  /** The messages that no commit has consumed, oldest first. */
  inbox(jobId: string): Promise<Reply<{ readonly messages: readonly Message[]; readonly inboxRev: number }>>;
  load(jobId: string): Promise<Reply<{ readonly found: Loaded | null }>>;
  /** Which jobs own these identities. */
  resolve(identities: readonly Identity[]): Promise<Reply<{ readonly jobIds: readonly (string | null)[] }>>;
  log(
    jobId: string,
    page: { fromRev: number; limit: number },
  ): Promise<Reply<{ readonly rows: readonly LogRow[] }>>;
  /**
   * Waiting jobs that have messages which no commit has consumed. Nothing says that a job waits for these, so each page
   * goes on behind the one before; `next` is null after the last.
   */
  unread(page: {
    after: string | null;
    limit: number;
  }): Promise<Reply<{ readonly jobIds: readonly string[]; readonly next: string | null }>>;
  /**
   * Waiting jobs of which a wait has expired, and idle ones past their deadline: those first whose time came first, of the same time those
   * that were created first. Without `except`.
   */
  due(page: {
    limit: number;
    except: readonly string[];
  }): Promise<Reply<{ readonly jobIds: readonly string[] }>>;
  list(filter: ListFilter): Promise<Reply<JobList>>;
  counts(filter: {
    tenantId: string | null;
  }): Promise<Reply<{ readonly counts: Readonly<Partial<Record<Status, number>>> }>>;
  /**
   * The job that would be claimed next, for each lane and tenant that has any: how far claims lag behind. Holds and pauses
   * are left out of account.
   */
  heads(page: { limit: number }): Promise<Reply<{ readonly heads: readonly LaneHead[] }>>;
  /** How many jobs that have not ended are in each state, by tenant. Those that have are not looked at. */
  liveCounts(): Promise<Reply<{ readonly counts: readonly LiveCount[] }>>;
  /** How many jobs are retrying, of each tenant that has at least so many. By tenant. */
  retrying(filter: { atLeast: number }): Promise<Reply<{ readonly tenants: readonly TenantCount[] }>>;
  /** How many of a tenant's jobs have not ended, counted up to `atMost`. Those that have are not looked at. */
  countLive(filter: { tenantId: string; atMost: number }): Promise<Reply<{ readonly count: number }>>;
  /** Every commit of every job from a position on: at least once, in order within a job. */
  feed(page: {
    after: FeedPosition | null;
    limit: number;
  }): Promise<Reply<{ readonly rows: readonly (LogRow & { position: FeedPosition })[] }>>;
  /** Behind everything that the feed shows by now. */
  feedEnd(): Promise<Reply<{ readonly position: FeedPosition }>>;
  /** Since when the first commit waits that the feed does not show yet, because of a transaction that goes on; null: none does. */
  feedHeldBack(): Promise<Reply<{ readonly since: Timestamp | null }>>;
  /** Oldest first; `after` is the last of the page before. */
  dlq(filter: {
    tenantId: string | null;
    status: DlqStatus | null;
    after: { readonly createdAt: Timestamp; readonly dlqId: string } | null;
    limit: number;
  }): Promise<Reply<{ readonly items: readonly DlqItem[] }>>;
  dlqItem(dlqId: string): Promise<Reply<{ readonly item: DlqItem | null }>>;
  /** How many items are open, of each tenant that has any. */
  dlqOpen(): Promise<Reply<{ readonly tenants: readonly TenantCount[] }>>;
  /** How many items were made from `from` on and before `until`, of each tenant that has at least so many. By tenant. */
  dlqEntered(filter: {
    from: Timestamp;
    until: Timestamp;
    atLeast: number;
  }): Promise<Reply<{ readonly tenants: readonly TenantCount[] }>>;
  /** Saves the next version of an item, if its last is still what the writer saw. */
  putDlqItem(item: DlqItem): Promise<Reply<{ readonly saved: boolean }>>;

  /** Keeps jobs from being claimed, whatever becomes of them, until they are released. Answers how many it was new to. */
  hold(hold: Hold): Promise<Reply<{ readonly changed: number }>>;
  release(jobIds: readonly string[]): Promise<Reply<{ readonly changed: number }>>;
  /** Why a job is held; null if it is not. */
  heldFor(jobId: string): Promise<Reply<{ readonly hold: HoldReason | null }>>;
  /** No job of a paused queue is claimed. What runs goes on. */
  pauseQueue(pause: { queue: string; paused: boolean; by: string }): Promise<Reply<unknown>>;
  pausedQueues(): Promise<Reply<{ readonly queues: readonly PausedQueue[] }>>;

  /**
   * Saves a schedule if it still is as the writer saw it; `expected` 0 for a new one. What a new one is known by besides its id is a record
   * that comes with it: both are saved, or neither.
   */
  putSchedule(
    schedule: Schedule,
    expected: number,
    known?: RecordPut,
  ): Promise<Reply<{ readonly saved: boolean }>>;
  schedule(ref: ScheduleRef): Promise<Reply<{ readonly schedule: Schedule | null }>>;
  deleteSchedule(ref: ScheduleRef): Promise<Reply<{ readonly deleted: boolean }>>;
  /** By tenant and id; `after` is the last of the page before. */
  schedules(filter: {
    tenantId: string | null;
    after: ScheduleRef | null;
    limit: number;
  }): Promise<Reply<{ readonly schedules: readonly Schedule[] }>>;
  /** Schedules whose time has come, longest due first. */
  dueSchedules(page: { limit: number }): Promise<Reply<{ readonly schedules: readonly Schedule[] }>>;

  /**
   * Saves a record if it still is as the writer saw it; `expected` 0 for a new one. What is to be done outside because of
   * it is saved with it, or not at all.
   */
  putRecord(
    record: StoredRecord,
    expected: number,
    outbox?: readonly NewOutboxEntry[],
  ): Promise<Reply<{ readonly saved: boolean }>>;
  record(ref: RecordRef): Promise<Reply<{ readonly record: StoredRecord | null }>>;
  /** Ordered by tenant and id; `after` is the last of the page before. */
  records(filter: {
    kind: RecordKind;
    tenantId: string | null;
    after: { readonly tenantId: string; readonly id: string } | null;
    limit: number;
  }): Promise<Reply<{ readonly records: readonly StoredRecord[] }>>;
  deleteRecord(ref: RecordRef): Promise<Reply<{ readonly deleted: boolean }>>;

  /** Takes entries of one kind that are due. One that is not settled within the lease is taken again. */
  takeOutbox(page: {
    kind: OutboxKind;
    limit: number;
    leaseMs: number;
  }): Promise<Reply<{ readonly entries: readonly OutboxEntry[] }>>;
  settleOutbox(outcomes: readonly OutboxOutcome[]): Promise<Reply<unknown>>;
  /** Entries that were given up, by their ids; behind `after`, if it is given. */
  deadOutbox(page: {
    kind: OutboxKind;
    after?: string | null;
    limit: number;
  }): Promise<Reply<{ readonly entries: readonly OutboxEntry[] }>>;

  /** Jobs that ended long ago, oldest first. */
  aged(page: AgedPage): Promise<Reply<Aged>>;
  /**
   * Deletes jobs that have ended with all that is theirs, identities that outlived theirs for long enough, and workers that
   * died long ago.
   */
  purge(purge: Purge): Promise<Reply<Purged>>;

  /**
   * Jobs whose row somebody has deleted, and not all that was theirs: a purge takes both. Looks at so many logs, whosever
   * they are, so a page may be empty; each goes on behind the one before, and `next` is null after the last.
   */
  strays(page: {
    after: string | null;
    limit: number;
  }): Promise<Reply<{ readonly strays: readonly Stray[]; readonly next: string | null }>>;

  /** Tells listeners of this store, wherever they run, that these lanes have work. A hint: it may get lost. */
  wake(lanes: readonly string[]): void;
  /** `hear` is called with lanes that may have work. Answers with how to stop. */
  listen(hear: (lanes: readonly string[]) => void): () => Promise<void>;
  close(): Promise<void>;
}
