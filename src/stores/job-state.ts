import {
  eventsOf,
  evolve,
  InvariantViolation,
  must,
  UnreadableLog,
  type Job,
  type JsonText,
  type Status,
} from '../kernel/index.js';
import type { Loaded, LogRow } from '../ports/store.js';

/**
 * What of a job neither its columns nor its log hold, as JSON. Most of it is not there most of the time, or can be told
 * from the rest, and is then not written: a row that is updated often stays small, and one that grows splits its page. Put together by hand, at a third of what an object costs that is
 * made only to be written (bench/store).
 */
export function encodeState(job: Job): JsonText {
  let fields = '';
  if (job.retryCount > 0) fields += `,"retryCount":${job.retryCount}`;
  if (job.recoveryCount > 0) fields += `,"recoveryCount":${job.recoveryCount}`;
  if (job.fenced) fields += ',"fenced":true';
  if (job.worker !== null) fields += `,"workerId":${JSON.stringify(job.worker.id)}`;
  if (job.claimedAt !== null && job.claimedAt !== job.updatedAt) fields += `,"claimedAt":${job.claimedAt}`;
  if (job.leasedMs > 0) fields += `,"leasedMs":${job.leasedMs}`;
  if (job.nextRetryAt !== null) fields += `,"nextRetryAt":${job.nextRetryAt}`;
  if (job.waits.length > 0) fields += `,"waits":${JSON.stringify(job.waits)}`;
  if (job.interruptedReason !== null) fields += `,"interruptedReason":"${job.interruptedReason}"`;
  if (job.checkpointRev !== null) fields += `,"checkpointRev":${job.checkpointRev}`;
  if (job.deadLetter !== null) fields += `,"deadLetter":${JSON.stringify(job.deadLetter)}`;
  if (job.failure !== null) fields += `,"failure":${JSON.stringify(job.failure)}`;
  if (job.startedAt !== null && job.startedAt !== job.claimedAt) fields += `,"startedAt":${job.startedAt}`;
  return fields === '' ? '{}' : `{${fields.slice(1)}}`;
}

type State = Partial<
  Pick<
    Job,
    | 'retryCount'
    | 'recoveryCount'
    | 'fenced'
    | 'claimedAt'
    | 'leasedMs'
    | 'nextRetryAt'
    | 'waits'
    | 'interruptedReason'
    | 'checkpointRev'
    | 'deadLetter'
    | 'failure'
    | 'startedAt'
  > & { readonly workerId: string }
>;

/** The columns of a job's row that make up the job, together with its log. */
export type StoredRow = {
  readonly job_id: string;
  readonly status: Status;
  readonly rev: number;
  readonly attempt_id: string | null;
  readonly incarnation: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly finished_at: number | null;
  readonly inbox_rev: number;
  readonly state: JsonText;
};

/** Their names, for a SELECT. */
export const STORED_COLUMNS = [
  'job_id',
  'status',
  'rev',
  'attempt_id',
  'incarnation',
  'created_at',
  'updated_at',
  'finished_at',
  'inbox_rev',
  'state',
] as const satisfies readonly (keyof StoredRow)[];

/** What a search for due jobs finds of each, by which one that is remembered can be told to be the same. */
export type IdleRow = Pick<StoredRow, 'job_id' | 'rev' | 'created_at' | 'inbox_rev'>;

/** What makes it whole: more of its row, the first row of its log, and the link of the last. */
export type RestOfIdle = Pick<StoredRow, 'status' | 'attempt_id' | 'updated_at' | 'state'> & {
  readonly created: string;
  readonly link: string;
};

/** A job that nobody runs, made whole again: its row is up to date, and of its log only the first row is needed. */
export function assembleIdle({ job_id, rev, created_at, inbox_rev }: IdleRow, rest: RestOfIdle): Loaded {
  const { status, attempt_id, updated_at, state, created, link } = rest;
  const idle = { incarnation: null, finished_at: null };
  const row = { job_id, status, rev, attempt_id, created_at, updated_at, inbox_rev, state, ...idle };
  return { job: jobOf(row, creationOf(job_id, created)), link, inboxRev: inbox_rev };
}

/**
 * A stored job made whole again, with the step records that came after its row. `log` has the first row, the one that
 * the job's row stands for, and all after it; rows between are not needed.
 */
export function assemble(row: StoredRow, log: readonly LogRow[]): Loaded {
  const first = must(log[0], 'a job has a first row');
  return assembleFrom(row, creationOf(row.job_id, first.body), log);
}

/** The same, by one who has read the first row of the log before. */
export function assembleFrom(row: StoredRow, creation: Creation, log: readonly LogRow[]): Loaded {
  let job = jobOf(row, creation);
  let link = '';
  for (const logged of log) {
    const events = logged.rev > row.rev ? eventsOf(logged) : [];
    for (const event of events) job = evolve(job, event);
    if (logged.rev >= row.rev) {
      job = { ...job, rev: logged.rev };
      link = logged.link;
    }
    if (logged.rev === row.rev && job.status === 'succeeded') job = { ...job, result: resultOf(logged) };
  }
  if (link === '') {
    const problem = 'it is missing, and the row of its job stands for it';
    throw new UnreadableLog({ jobId: row.job_id, rev: row.rev }, { code: 'EVENT_UNREADABLE', problem });
  }
  return { job, link, inboxRev: row.inbox_rev };
}

/** What a job is told when it is created, and keeps. */
export type Creation = Pick<Job, 'spec' | 'input'>;

const NO_WAITS: Job['waits'] = [];

/** Field by field, like the kernel's own copy: every job has one shape in memory. */
function jobOf(row: StoredRow, { spec, input }: Creation): Job {
  const state = JSON.parse(row.state) as State;
  const { incarnation } = row;
  // Nothing but the claim itself changes the row of a job that is held; so its time, mostly, is the row's.
  const claimedAt = incarnation === null ? null : (state.claimedAt ?? row.updated_at);
  return {
    spec,
    input,
    rev: row.rev,
    status: row.status,
    retryCount: state.retryCount ?? 0,
    recoveryCount: state.recoveryCount ?? 0,
    attemptId: row.attempt_id,
    fenced: state.fenced ?? false,
    worker: incarnation === null ? null : { id: must(state.workerId, 'a holder has a name'), incarnation },
    claimedAt,
    leasedMs: state.leasedMs ?? 0,
    nextRetryAt: state.nextRetryAt ?? null,
    waits: state.waits ?? NO_WAITS,
    interruptedReason: state.interruptedReason ?? null,
    checkpointRev: state.checkpointRev ?? null,
    deadLetter: state.deadLetter ?? null,
    failure: state.failure ?? null,
    result: null,
    createdAt: row.created_at,
    startedAt: state.startedAt ?? claimedAt,
    finishedAt: row.finished_at,
    updatedAt: row.updated_at,
  };
}

function resultOf(row: LogRow): JsonText | null {
  const ended = eventsOf(row).find((event) => event.type === 'job.succeeded');
  return ended ? ended.result : null;
}

export function creationOf(jobId: string, body: string): Creation {
  const [created] = eventsOf({ jobId, rev: 1, body });
  if (created?.type !== 'job.created')
    throw new InvariantViolation(`the log of ${jobId} does not begin with job.created`);
  return { spec: created.spec, input: created.input };
}
