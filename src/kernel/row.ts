import type { Job, JobSpec } from './job.js';
import type { Timestamp } from './payload.js';
import { claimableAt, wakesAt } from './readiness.js';
import { isLive, type Status } from './status.js';

/**
 * What a store keeps of a job in columns: enough to find it, and to guard it. Every value is worked out here, so
 * that SQL compares and never decides.
 */
export type JobRow = FixedColumns & ChangingColumns;

type FixedColumns = {
  readonly jobId: string;
  readonly tenantId: string;
  readonly task: string;
  readonly queue: string;
  /** Queue, task and version: workers claim from the lanes that they know. */
  readonly lane: string;
  /** Jobs of one gate share a limit on how many of them run at once; empty for a job that no such limit counts. */
  readonly gate: string;
  readonly priority: number;
  readonly createdAt: Timestamp;
};

/** Those that a job's life may change: all that is worked out again for an update. */
export type ChangingColumns = {
  readonly status: Status;
  readonly rev: number;
  readonly attemptId: string | null;
  /** The holder's incarnation; null while nobody holds the job. */
  readonly incarnation: string | null;
  readonly dueAt: Timestamp | null;
  readonly wakeAt: Timestamp | null;
  /** The deadline, while someone other than a holder must enforce it. */
  readonly deadlineAt: Timestamp | null;
  readonly updatedAt: Timestamp;
  readonly finishedAt: Timestamp | null;
};

/** Field by field, like the kernel's copy of a job. */
export function rowOf(job: Job): JobRow {
  const { spec } = job;
  const changing = changingOf(job);
  return {
    jobId: spec.jobId,
    tenantId: spec.tenantId,
    task: spec.task,
    queue: spec.queue,
    lane: laneOf(spec),
    gate: gateOf(spec),
    priority: spec.priority,
    createdAt: job.createdAt,
    status: changing.status,
    rev: changing.rev,
    attemptId: changing.attemptId,
    incarnation: changing.incarnation,
    dueAt: changing.dueAt,
    wakeAt: changing.wakeAt,
    deadlineAt: changing.deadlineAt,
    updatedAt: changing.updatedAt,
    finishedAt: changing.finishedAt,
  };
}

export function changingOf(job: Job): ChangingColumns {
  const { spec, status } = job;
  return {
    status,
    rev: job.rev,
    attemptId: job.attemptId,
    incarnation: job.worker && job.worker.incarnation,
    dueAt: claimableAt(job),
    wakeAt: wakesAt(job),
    deadlineAt: isLive(status) && status !== 'running' ? spec.deadlineAt : null,
    updatedAt: job.updatedAt,
    finishedAt: job.finishedAt,
  };
}

/** Names cannot hold it, since it is a control character. */
const SEPARATOR = '\u001f';

/** Jobs that the same workers can run. The same come a thousand times in a row. */
export function laneOf({ queue, task, version }: Lane): string {
  if (queue !== last.queue || task !== last.task || version !== last.version)
    last = { queue, task, version, name: `${queue}${SEPARATOR}${task}${SEPARATOR}${version ?? ''}` };
  return last.name;
}

type Lane = Pick<JobSpec, 'queue' | 'task' | 'version'>;
let last: Lane & { readonly name: string } = {
  queue: '',
  task: '',
  version: null,
  name: SEPARATOR + SEPARATOR,
};

/** Where the worker that holds a job listens for news of it. */
export function holderLane({ worker }: Pick<Job, 'worker'>): string {
  return `worker:${worker?.incarnation ?? ''}`;
}

/** Whether it is a worker's: no job is in such a lane. */
export function isHolderLane(lane: string): boolean {
  return lane.startsWith('worker:') && !lane.includes(SEPARATOR);
}

/** The queue of a lane. */
export function queueOf(lane: string): string {
  return lane.slice(0, lane.indexOf(SEPARATOR));
}

/** The name of a lane's task. */
export function taskOf(lane: string): string {
  return lane.split(SEPARATOR)[1] ?? '';
}

/**
 * All versions of a task share the limit of a concurrency key; tenants are told apart by the store. The empty key is that of
 * jobs which count for their tenant only.
 */
function gateOf({ task, concurrencyKey }: JobSpec): string {
  return concurrencyKey === null ? '' : `${task}${SEPARATOR}${concurrencyKey}`;
}

/** The gate of a lane's task under the empty key. Those of all its keys begin with it. */
export function taskGateOf(lane: string): string {
  const from = lane.indexOf(SEPARATOR) + 1;
  return lane.slice(from, from + lane.slice(from).indexOf(SEPARATOR) + 1);
}

/** What comes behind every gate of a task in the order of texts, and before those of any other. */
export function behindTaskGate(taskGate: string): string {
  return `${taskGate.slice(0, -SEPARATOR.length)} `;
}
