import type {
  Command,
  DlqItem,
  Job,
  JobRow,
  JsonText,
  RateLimit,
  Status,
  StepRef,
  Timestamp,
  WorkerLease,
  WorkerRef,
} from '../kernel/index.js';

export type Reply<T> = T & { readonly now: Timestamp };

/** The application's own writes, and one commit: both are saved, or neither. */
export interface StoreTransaction {
  /** What the application writes with: a `pg` client on Postgres, a list that takes statements on SQLite. */
  readonly tx: unknown;
  /** Saves the commit as the last of the transaction, and ends it. A commit that is refused undoes everything. */
  commit(item: CommitItem): Promise<Reply<{ readonly reply: CommitReply }>>;
  /** Undoes everything. If a commit is under way, it waits for that instead; after the end it does nothing. */
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
  /** Its dead-letter item; or, where a new job takes over from one, that one's next version. */
  readonly dlqItem: DlqItem | null;
  /** Keys of inbox messages that this commit uses up. */
  readonly consumed: readonly string[];
  /** What is to be done outside because of it: at least once each, after it has been saved. */
  readonly outbox: readonly NewOutboxEntry[];
  /** What it was decided on, in order: for a store that lets somebody else decide again. */
  readonly commands?: readonly Command[];
  /** Its effects were entered by a job before this one, and are counted there. */
  readonly takesOver?: boolean;
};

export type Identity = {
  readonly tenantId: string;
  readonly kind: 'key' | 'task_id' | 'firing' | 'latest_run' | 'successor';
  readonly value: string;
  /** The job that may own it so far, and no longer does once another is created with it. */
  readonly replaces?: string;
  /** The job without which it cannot be taken: if that is purged before, the commit is refused. */
  readonly needs?: string;
};

export type CommitRefusal =
  | 'REV_TAKEN'
  | 'ATTEMPT_GONE'
  | 'INBOX_MOVED'
  | 'RESULT_STORED'
  | 'DLQ_MOVED'
  | 'JOB_GONE';
export type CommitReply =
  | { readonly ok: true; readonly repeated: boolean }
  | { readonly ok: false; readonly code: CommitRefusal }
  | { readonly ok: false; readonly code: 'IDENTITY_TAKEN'; readonly owners: readonly (string | null)[] };
export type CommitReplies = Reply<{
  readonly replies: readonly CommitReply[];
  /** Whoever listens to the lanes of jobs that are ready by it is being told so already, and need not be woken. */
  readonly told?: true;
}>;

/** `owners`: the jobs that own what refused items wanted, as the transaction sees them. One that was started in it is there for nobody else yet. */
export type CommitWithin = CommitReplies & { readonly owners: readonly Loaded[] };

export type ClaimRequest = {
  readonly worker: WorkerRef;
  readonly lanes: readonly ClaimLane[];
  readonly limit: number;
  /** Tenants take turns: the next claim goes on behind this one. */
  readonly afterTenant: string;
  /** Only jobs of this tenant; everybody's without it. */
  readonly tenantId?: string;
  /** The worker runs a job that may take its process down, and takes no second one: for a store that decides itself. */
  readonly hasSuspect?: boolean;
  /** Not these, which it has left before: others are looked for behind them. */
  readonly except?: readonly string[];
  /** Decides on each candidate; null leaves it. */
  readonly decide: (found: Loaded, now: Timestamp) => CommitItem | null;
  /**
   * A store may call it once it is clear which jobs a large claim gets, if it gets as many as it may: the next may begin, behind
   * that tenant, while this one is being written.
   */
  readonly picked?: (lastTenant: string) => void;
};
/**
 * `keyLimit`: how many jobs with the same concurrency key may run at once; null for any number. The empty key has none.
 * `tenantLimit`: how many jobs of its task may run at once for one tenant. It counts those that have a key, if an empty one.
 * `rate`: how many of its jobs may be claimed within a period, by all workers together; `ratePerTenant`: for each tenant.
 */
export type ClaimLane = {
  readonly lane: string;
  readonly keyLimit: number | null;
  readonly tenantLimit?: number | null;
  readonly rate?: RateLimit | null;
  readonly ratePerTenant?: boolean;
};
export type Claimed = Reply<{
  /** False: the incarnation is dead, and may claim nothing more. */
  readonly alive: boolean;
  readonly jobs: readonly Job[];
  /** By a store that decided itself: where the jobs stand, in their order, and the suspects that it left. */
  readonly decided?: { readonly heads: readonly Head[]; readonly leftSuspects: readonly string[] };
  readonly lastTenant: string;
  /** When a lane whose rate is used up may be claimed from again, if one is. */
  readonly rateFreeAt?: Timestamp;
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

/** What a commit needs to know besides the job. */
export type Head = Omit<Loaded, 'job'>;

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
  /** Null: whatever their state. */
  readonly statuses: readonly Status[] | null;
  readonly task: string | null;
  readonly limit: number;
  /** `next` of the page before; null begins with the newest. */
  readonly cursor: string | null;
};

export type JobList = {
  readonly rows: readonly JobRow[];
  /** The cursor behind each row. */
  readonly places: readonly string[];
  /** That behind the last; null if nothing follows. */
  readonly next: string | null;
};

export type LaneHead = { readonly lane: string; readonly tenantId: string; readonly dueAt: Timestamp };

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

/** What the engine keeps besides jobs: small, seldom changed, each with a text of the engine's own. */
export type RecordKind =
  | 'subscription'
  | 'alert'
  | 'audit'
  | 'key'
  | 'reply'
  | 'rate'
  | 'task_key'
  | 'attempts'
  | 'finding';
export type RecordRef = { readonly kind: RecordKind; readonly tenantId: string; readonly id: string };
export type StoredRecord = RecordRef & {
  /** One more with every change. */
  readonly version: number;
  readonly body: JsonText;
};

/** A record, and the version that it takes the place of: 0 for a new one. */
export type RecordPut = { readonly record: StoredRecord; readonly expected: number };

/** Kinds are taken apart from each other, so that a flood of one does not hold up another. */
export type OutboxKind = 'child' | 'callback';
export type NewOutboxEntry = {
  readonly entryId: string;
  readonly kind: OutboxKind;
  readonly dueAt: Timestamp;
  readonly body: JsonText;
};
/** `jobId`: whose commit put it there; null for one that came with a record. */
export type OutboxEntry = NewOutboxEntry & { readonly jobId: string | null; readonly tries: number };
export type OutboxOutcome =
  | { readonly entryId: string; readonly outcome: 'done' | 'dead' }
  | { readonly entryId: string; readonly outcome: 'again'; readonly dueAt: Timestamp };

export type LiveCount = TenantCount & { readonly status: Status };
export type TenantCount = { readonly tenantId: string; readonly count: number };
