import type {
  DlqItem,
  DlqStatus,
  Job,
  JobRow,
  JsonText,
  Status,
  StepRef,
  Timestamp,
  WorkerLease,
  WorkerRef,
} from '../kernel/index.js';

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
  commitWithin(tx: unknown, items: readonly CommitItem[]): Promise<CommitReplies>;
  /** Opens a transaction for writes of the application that end with a commit. `TX_UNSUPPORTED` where there are none. */
  begin(): Promise<StoreTransaction>;
  /** Takes jobs that are due for a worker, tenants in turn. */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** Registers a worker's incarnation or prolongs its lease, and tells what it holds. Older ones of its id are dead. */
  beat(beat: Beat): Promise<BeatReply>;
  /** These incarnations, or all that are not dead; unknown ones are left out. */
  workers(filter: {
    incarnations: readonly string[] | null;
  }): Promise<Reply<{ readonly workers: readonly WorkerEntry[] }>>;
  /** Declares leases that ran out dead, for good, and finds the running jobs that nobody alive holds. */
  orphans(page: { limit: number }): Promise<Reply<{ readonly jobs: readonly Loaded[] }>>;
  /** Keeps the result of an effect's entry, or that its body ended without one. The first writer wins; not fenced. */
  putEffect(result: EffectResult): Promise<Reply<{ readonly first: boolean }>>;
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
  /** Waiting jobs of which a wait has expired, and idle ones past their deadline. */
  due(page: { limit: number }): Promise<Reply<{ readonly jobIds: readonly string[] }>>;
  list(
    filter: ListFilter,
  ): Promise<Reply<{ readonly rows: readonly JobRow[]; readonly next: string | null }>>;
  counts(filter: {
    tenantId: string | null;
  }): Promise<Reply<{ readonly counts: Readonly<Partial<Record<Status, number>>> }>>;
  /** Every commit of every job from a position on: at least once, in order within a job. */
  feed(page: {
    after: FeedPosition | null;
    limit: number;
  }): Promise<Reply<{ readonly rows: readonly (LogRow & { position: FeedPosition })[] }>>;
  dlq(filter: {
    tenantId: string | null;
    status: DlqStatus | null;
    limit: number;
  }): Promise<Reply<{ readonly items: readonly DlqItem[] }>>;

  /** Keeps jobs from being claimed, whatever becomes of them, until they are released. Answers how many it was new to. */
  hold(hold: Hold): Promise<Reply<{ readonly changed: number }>>;
  release(jobIds: readonly string[]): Promise<Reply<{ readonly changed: number }>>;
  /** Why a job is held; null if it is not. */
  heldFor(jobId: string): Promise<Reply<{ readonly hold: HoldReason | null }>>;
  /** No job of a paused queue is claimed. What runs goes on. */
  pauseQueue(pause: { queue: string; paused: boolean; by: string }): Promise<Reply<unknown>>;
  pausedQueues(): Promise<Reply<{ readonly queues: readonly PausedQueue[] }>>;

  /** Saves a schedule if it still is as the writer saw it; `expected` 0 for a new one. */
  putSchedule(schedule: Schedule, expected: number): Promise<Reply<{ readonly saved: boolean }>>;
  schedule(ref: ScheduleRef): Promise<Reply<{ readonly schedule: Schedule | null }>>;
  deleteSchedule(ref: ScheduleRef): Promise<Reply<{ readonly deleted: boolean }>>;
  schedules(filter: {
    tenantId: string | null;
    limit: number;
  }): Promise<Reply<{ readonly schedules: readonly Schedule[] }>>;
  /** Schedules whose time has come, longest due first. */
  dueSchedules(page: { limit: number }): Promise<Reply<{ readonly schedules: readonly Schedule[] }>>;

  /** Takes entries that are due. One that is not settled within the lease is taken again. */
  takeOutbox(page: {
    limit: number;
    leaseMs: number;
  }): Promise<Reply<{ readonly entries: readonly OutboxEntry[] }>>;
  settleOutbox(outcomes: readonly OutboxOutcome[]): Promise<Reply<unknown>>;
  /** Entries that were given up, oldest first. */
  deadOutbox(page: { limit: number }): Promise<Reply<{ readonly entries: readonly OutboxEntry[] }>>;

  /** Deletes jobs that ended long ago, and identities that outlived theirs for long enough. */
  purge(page: PurgePage): Promise<Reply<Purged>>;

  /** Tells listeners of this store, wherever they run, that these lanes have work. A hint: it may get lost. */
  wake(lanes: readonly string[]): void;
  /** `hear` is called with lanes that may have work. Answers with how to stop. */
  listen(hear: (lanes: readonly string[]) => void): () => Promise<void>;
  close(): Promise<void>;
}

export type Reply<T> = T & { readonly now: Timestamp };

/** The application's own writes, and one commit: both are saved, or neither. */
export interface StoreTransaction {
  /** What the application writes with: a `pg` client on Postgres, a list that takes statements on SQLite. */
  readonly tx: unknown;
  /** Saves the commit as the last of the transaction, and ends it. A commit that is refused undoes everything. */
  commit(item: CommitItem): Promise<Reply<{ readonly reply: CommitReply }>>;
  /** Undoes everything. After the end it does nothing. */
  rollback(): Promise<void>;
}

/** On SQLite a transaction must not stay open while other code runs: statements are taken down, and run together. */
export interface StatementList {
  run(sql: string, ...values: readonly (string | number | null)[]): void;
}

/** One commit of one job, as the kernel decided it. */
export type CommitItem = {
  readonly jobId: string;
  /** One more than the head of the log that it was decided on. Another row there means that something came between. */
  readonly rev: number;
  /** Names the commit: sent again after an unknown outcome, it gets its first answer. */
  readonly commandId: string;
  readonly body: string;
  readonly link: string;
  /** The job after it; null for a step record, which leaves the row alone. */
  readonly job: Job | null;
  /** The attempt that must still hold the job; null for whoever is no worker. */
  readonly attemptId: string | null;
  /** How far the inbox was when the decision looked at it; null if it did not. */
  readonly inboxRev: number | null;
  /** The entry of an effect of which no result may be stored: closing it must not overlook one. Null: none. */
  readonly noResultOf: EntryRef | null;
  readonly identities: readonly Identity[];
  readonly dlqItem: DlqItem | null;
  /** Keys of inbox messages that this commit uses up. */
  readonly consumed: readonly string[];
  /** What is to be done outside because of it: at least once each, after it has been saved. */
  readonly outbox: readonly NewOutboxEntry[];
};

export type Identity = {
  readonly tenantId: string;
  readonly kind: 'key' | 'task_id' | 'firing';
  readonly value: string;
};

export type CommitReply =
  | { readonly ok: true; readonly repeated: boolean }
  | { readonly ok: false; readonly code: 'REV_TAKEN' | 'ATTEMPT_GONE' | 'INBOX_MOVED' | 'RESULT_STORED' }
  | { readonly ok: false; readonly code: 'IDENTITY_TAKEN'; readonly owners: readonly (string | null)[] };
export type CommitReplies = Reply<{ readonly replies: readonly CommitReply[] }>;

export type ClaimRequest = {
  readonly worker: WorkerRef;
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  /** Tenants take turns: the next claim goes on behind this one. */
  readonly afterTenant: string;
  /** Decides on each candidate; null leaves it. */
  readonly decide: (found: Loaded, now: Timestamp) => CommitItem | null;
};
/** `keyLimit`: how many jobs with the same concurrency key may run at once; null for any number. */
export type ClaimLane = { readonly lane: string; readonly keyLimit: number | null };
export type Claimed = Reply<{
  /** False: the incarnation is dead, and may claim nothing more. */
  readonly alive: boolean;
  readonly jobs: readonly Job[];
  readonly lastTenant: string;
}>;

/** `lanes`: what it claims from. */
export type Beat = {
  readonly worker: WorkerRef;
  readonly leaseMs: number;
  readonly lanes: readonly string[];
};
export type WorkerEntry = WorkerLease & { readonly worker: WorkerRef; readonly lanes: readonly string[] };
export type BeatReply = Reply<{
  readonly alive: boolean;
  readonly leaseUntil: Timestamp;
  readonly held: readonly { readonly jobId: string; readonly attemptId: string }[];
}>;

/** A job with what a commit on it needs to know. Step records that its row lags behind are folded in. */
export type Loaded = {
  readonly job: Job;
  /** The link of the log's head. */
  readonly link: string;
  readonly inboxRev: number;
};

export type LogRow = {
  readonly jobId: string;
  readonly rev: number;
  readonly commandId: string;
  readonly body: string;
  readonly link: string;
};

/** Where a row stands in the feed. Only the store that gave it can read it. */
export type FeedPosition = string;

export type EntryRef = StepRef & { readonly entry: number };
export type EffectResult = EntryRef & {
  readonly jobId: string;
  /** Null: the body ended, and nobody knows with what. A result that arrives later still counts. */
  readonly result: JsonText | null;
};

export type NewMessage = { readonly jobId: string; readonly key: string; readonly payload: JsonText };
export type Message = NewMessage & { readonly receivedAt: Timestamp };

export type ListFilter = {
  readonly tenantId: string | null;
  readonly status: Status | null;
  readonly task: string | null;
  readonly limit: number;
  /** `next` of the page before; null begins with the newest. */
  readonly cursor: string | null;
};

export type HoldReason = { readonly reason: string; readonly by: string; readonly since: Timestamp };
export type Hold = { readonly jobIds: readonly string[]; readonly reason: string; readonly by: string };
export type PausedQueue = { readonly queue: string; readonly by: string; readonly since: Timestamp };

export type ScheduleRef = { readonly tenantId: string; readonly scheduleId: string };
export type Schedule = ScheduleRef & {
  /** One more with every change. */
  readonly version: number;
  /** Null while it is paused or over. */
  readonly nextFireAt: Timestamp | null;
  /** What fires, and when: the engine's own text. */
  readonly body: JsonText;
};

export type NewOutboxEntry = {
  readonly entryId: string;
  readonly kind: string;
  readonly dueAt: Timestamp;
  readonly body: JsonText;
};
export type OutboxEntry = NewOutboxEntry & { readonly jobId: string; readonly tries: number };
export type OutboxOutcome =
  | { readonly entryId: string; readonly outcome: 'done' | 'dead' }
  | { readonly entryId: string; readonly outcome: 'again'; readonly dueAt: Timestamp };

export type PurgePage = {
  /** Jobs that ended before go, unless their dead-letter item is still open. */
  readonly finishedBefore: Timestamp;
  /** How long identities outlive their job's purge. */
  readonly identityTtlMs: number;
  readonly limit: number;
  /** `next` of the page before: the oldest jobs are looked at first. Null begins. */
  readonly after: string | null;
};
/** `next` is null once every job has been looked at. */
export type Purged = { readonly jobs: number; readonly identities: number; readonly next: string | null };
