import {
  decodeEvents,
  evolve,
  InvariantViolation,
  must,
  type Event,
  type Job,
  type JsonText,
} from '../kernel/index.js';
import type { Loaded, LogRow } from '../ports/store.js';

/**
 * The part of a job that changes, as JSON. What never changes (spec, input) stands in the first row of its log and
 * the result in the last, each written once; a row that is updated often stays small.
 */
export function encodeState(job: Job): JsonText {
  const state: State = {
    rev: job.rev,
    status: job.status,
    retryCount: job.retryCount,
    recoveryCount: job.recoveryCount,
    attemptId: job.attemptId,
    fenced: job.fenced,
    worker: job.worker,
    claimedAt: job.claimedAt,
    leasedMs: job.leasedMs,
    nextRetryAt: job.nextRetryAt,
    waits: job.waits,
    interruptedReason: job.interruptedReason,
    checkpointRev: job.checkpointRev,
    deadLetter: job.deadLetter,
    failure: job.failure,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    updatedAt: job.updatedAt,
  };
  return JSON.stringify(state);
}

type State = Omit<Job, 'spec' | 'input' | 'result'>;

export type StoredJob = {
  readonly state: JsonText;
  readonly inboxRev: number;
  /** The first row of the log, the one that the state stands for, and all after it. Rows between are not needed. */
  readonly rows: readonly LogRow[];
};

/** A job that nobody runs, made whole again: its row is up to date, and of its log only the first row is needed. */
export function assembleIdle(stored: {
  readonly jobId: string;
  readonly rev: number;
  readonly state: JsonText;
  readonly inboxRev: number;
  readonly created: string;
  readonly link: string;
}): Loaded {
  const { spec, input } = creationOf(stored.jobId, stored.created);
  return {
    job: jobOf(JSON.parse(stored.state) as State, { spec, input }),
    link: stored.link,
    inboxRev: stored.inboxRev,
  };
}

/** A stored job made whole again, with the step records that came after its row. */
export function assemble({ state, inboxRev, rows }: StoredJob): Loaded {
  const parsed = JSON.parse(state) as State;
  const first = must(rows[0], 'a job has a first row');
  let job = jobOf(parsed, creationOf(first.jobId, first.body));
  let link = '';
  for (const row of rows) {
    const events = row.rev > parsed.rev ? eventsOf(row) : [];
    for (const event of events) job = evolve(job, event);
    if (row.rev >= parsed.rev) {
      job = { ...job, rev: row.rev };
      link = row.link;
    }
    if (row.rev === parsed.rev && job.status === 'succeeded') job = { ...job, result: resultOf(row) };
  }
  return { job, link, inboxRev };
}

/** Field by field, like the kernel's own copy: every job has one shape in memory. */
function jobOf(state: State, { spec, input }: Pick<Job, 'spec' | 'input'>): Job {
  return {
    spec,
    input,
    rev: state.rev,
    status: state.status,
    retryCount: state.retryCount,
    recoveryCount: state.recoveryCount,
    attemptId: state.attemptId,
    fenced: state.fenced,
    worker: state.worker,
    claimedAt: state.claimedAt,
    leasedMs: state.leasedMs,
    nextRetryAt: state.nextRetryAt,
    waits: state.waits,
    interruptedReason: state.interruptedReason,
    checkpointRev: state.checkpointRev,
    deadLetter: state.deadLetter,
    failure: state.failure,
    result: null,
    createdAt: state.createdAt,
    startedAt: state.startedAt,
    finishedAt: state.finishedAt,
    updatedAt: state.updatedAt,
  };
}

function resultOf(row: LogRow): JsonText | null {
  const ended = eventsOf(row).find((event) => event.type === 'job.succeeded');
  return ended ? ended.result : null;
}

function creationOf(jobId: string, body: string): Pick<Job, 'spec' | 'input'> {
  const [created] = eventsOf({ jobId, rev: 1, body });
  if (created?.type !== 'job.created')
    throw new InvariantViolation(`the log of ${jobId} does not begin with job.created`);
  return { spec: created.spec, input: created.input };
}

function eventsOf(row: Pick<LogRow, 'jobId' | 'rev' | 'body'>): readonly Event[] {
  const decoded = decodeEvents(row.body);
  if (!decoded.ok)
    throw new InvariantViolation(`${decoded.code} at ${row.jobId}/${row.rev}: ${decoded.problem}`);
  return decoded.events;
}
