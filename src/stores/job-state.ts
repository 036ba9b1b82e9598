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
export function encodeState({ spec: _spec, input: _input, result: _result, ...state }: Job): JsonText {
  return JSON.stringify(state);
}

type State = Omit<Job, 'spec' | 'input' | 'result'>;

export type StoredJob = {
  readonly state: JsonText;
  readonly inboxRev: number;
  /** The first row of the log, the one that the state stands for, and all after it. Rows between are not needed. */
  readonly rows: readonly LogRow[];
};

/** A stored job made whole again, with the step records that came after its row. */
export function assemble({ state, inboxRev, rows }: StoredJob): Loaded {
  const parsed = JSON.parse(state) as State;
  const [created] = eventsOf(must(rows[0], 'a job has a first row'));
  if (created?.type !== 'job.created') throw new InvariantViolation('a log begins with job.created');
  let job: Job = { ...parsed, spec: created.spec, input: created.input, result: null };
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

function resultOf(row: LogRow): JsonText | null {
  const ended = eventsOf(row).find((event) => event.type === 'job.succeeded');
  return ended ? ended.result : null;
}

function eventsOf(row: LogRow): readonly Event[] {
  const decoded = decodeEvents(row.body);
  if (!decoded.ok)
    throw new InvariantViolation(`${decoded.code} at ${row.jobId}/${row.rev}: ${decoded.problem}`);
  return decoded.events;
}
