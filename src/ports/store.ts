import type {
  DlqItem,
  DlqStatus,
  Job,
  JobRow,
  JsonText,
  Status,
  StepRef,
  Timestamp,
  WorkerRef,
} from '../kernel/index.js';

/**
 * Where jobs live. A store is passive: the kernel has decided, the store saves if nothing has come between, finds
 * what is due, and compares times. Every reply carries the store's own time, the only one that counts.
 */
export interface Store {
  /** Saves commits, each of them whole or not at all. All that it accepts is durable when it returns. */
  commit(items: readonly CommitItem[]): Promise<CommitReplies>;
  /** Takes jobs that are due for a worker, tenants in turn. */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** Registers a worker's incarnation or prolongs its lease, and tells what it holds. */
  beat(beat: Beat): Promise<BeatReply>;
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
  close(): Promise<void>;
}

export type Reply<T> = T & { readonly now: Timestamp };

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
  readonly identities: readonly Identity[];
  readonly dlqItem: DlqItem | null;
  /** Keys of inbox messages that this commit uses up. */
  readonly consumed: readonly string[];
};

export type Identity = {
  readonly tenantId: string;
  readonly kind: 'key' | 'task_id';
  readonly value: string;
};

export type CommitReply =
  | { readonly ok: true; readonly repeated: boolean }
  | { readonly ok: false; readonly code: 'REV_TAKEN' | 'ATTEMPT_GONE' | 'INBOX_MOVED' }
  | { readonly ok: false; readonly code: 'IDENTITY_TAKEN'; readonly owners: readonly (string | null)[] };
export type CommitReplies = Reply<{ readonly replies: readonly CommitReply[] }>;

export type ClaimRequest = {
  readonly worker: WorkerRef;
  readonly lanes: readonly string[];
  readonly limit: number;
  /** Tenants take turns: the next claim goes on behind this one. */
  readonly afterTenant: string;
  /** Decides on each candidate; null leaves it. */
  readonly decide: (found: Loaded, now: Timestamp) => CommitItem | null;
};
export type Claimed = Reply<{
  /** False: the incarnation is dead, and may claim nothing more. */
  readonly alive: boolean;
  readonly jobs: readonly Job[];
  readonly lastTenant: string;
}>;

export type Beat = { readonly worker: WorkerRef; readonly leaseMs: number };
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

export type EffectResult = StepRef & {
  readonly jobId: string;
  readonly entry: number;
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
