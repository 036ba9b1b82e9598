import { isParked, type Change, type Event, type Job, type Status } from '../kernel/index.js';
import { eventIdOf, type Contract } from './contract.js';
import type { Machine } from './machine.js';
import { utc } from './utc.js';

export type GuaranteeStatus =
  'Pending' | 'Running' | 'Waiting' | 'Parked' | 'Retrying' | 'Completed' | 'Failed' | 'Cancelled';

const machine: Machine<GuaranteeStatus> = {
  states: ['Pending', 'Running', 'Waiting', 'Parked', 'Retrying', 'Completed', 'Failed', 'Cancelled'],
  edges: [
    { from: null, to: 'Pending' },
    { from: 'Pending', to: 'Running' },
    { from: 'Running', to: 'Pending' },
    { from: 'Running', to: 'Retrying' },
    { from: 'Running', to: 'Waiting' },
    { from: 'Running', to: 'Parked' },
    { from: 'Running', to: 'Completed' },
    { from: 'Running', to: 'Failed' },
    { from: 'Running', to: 'Cancelled' },
    { from: 'Waiting', to: 'Pending' },
    { from: 'Waiting', to: 'Cancelled' },
    { from: 'Parked', to: 'Pending' },
    { from: 'Parked', to: 'Cancelled' },
    { from: 'Retrying', to: 'Running' },
    { from: 'Pending', to: 'Cancelled', added: true },
    { from: 'Retrying', to: 'Cancelled', added: true },
  ],
};

const STATUS: Readonly<Record<Status, GuaranteeStatus>> = {
  scheduled: 'Pending',
  queued: 'Pending',
  running: 'Running',
  waiting: 'Waiting',
  unblocked: 'Pending',
  retrying: 'Retrying',
  interrupted: 'Pending',
  dlq_pending: 'Running',
  dlq_recorded: 'Running',
  succeeded: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** Guarantees under faults: leases, waits, tool invocations. */
export const guarantees: Contract<GuaranteeStatus> = {
  name: 'guarantees',
  resource: '/api/jobs',
  machine,
  project: (job) => (isParked(job) ? 'Parked' : STATUS[job.status]),
};

export type GuaranteeView = {
  readonly job_id: string;
  readonly status: GuaranteeStatus;
  readonly attempt_id: string | null;
  readonly failure_class: FailureClass | null;
  readonly waits: readonly {
    readonly correlation_key: string;
    readonly kind: string;
    readonly reason: string | null;
  }[];
  readonly created_at: string;
  readonly updated_at: string;
};

export type FailureClass = 'retryable_failure' | 'permanent_failure';

export function guaranteeView(job: Job): GuaranteeView {
  return {
    job_id: job.spec.jobId,
    status: guarantees.project(job),
    attempt_id: job.attemptId,
    failure_class: job.failure && failureClassOf(job),
    waits: job.waits.map(({ key, kind, reason }) => ({ correlation_key: key, kind, reason })),
    created_at: utc(job.createdAt),
    updated_at: utc(job.updatedAt),
  };
}

/** A failure that ended the job is permanent, whatever it was while retries were left. */
function failureClassOf(job: Job): FailureClass {
  return job.deadLetter === null ? 'retryable_failure' : 'permanent_failure';
}

export type GuaranteeEvent = {
  readonly event: GuaranteeEventName;
  readonly event_id: string;
  readonly job_id: string;
  readonly attempt_id: string | null;
  readonly occurred_at: string;
  readonly correlation_key: string | null;
  /** `step#occurrence` of the tool invocation. */
  readonly invocation: string | null;
};

export type GuaranteeEventName =
  | 'job_waiting'
  | 'wait_completed'
  | 'tool_invocation_started'
  | 'tool_invocation_finished'
  | 'command_committed';

type Named = {
  readonly name: GuaranteeEventName;
  readonly key: string | null;
  readonly invocation: string | null;
};

/** The source's own events. One commit of an effect is both the end of its invocation and its commit. */
export function guaranteeEvents(changes: readonly Change[]): GuaranteeEvent[] {
  return changes.flatMap((change) =>
    namesOf(change.event).map(({ name, key, invocation }, i) => ({
      event: name,
      event_id: i === 0 ? eventIdOf(change) : `${eventIdOf(change)}.${i}`,
      job_id: change.after.spec.jobId,
      attempt_id: change.after.attemptId,
      occurred_at: utc(change.event.at),
      correlation_key: key,
      invocation,
    })),
  );
}

function namesOf(event: Event): Named[] {
  switch (event.type) {
    case 'wait.begun':
      return event.waits.map(({ key }) => ({ name: 'job_waiting', key, invocation: null }));
    case 'wait.completed':
      return [{ name: 'wait_completed', key: event.wait.key, invocation: null }];
    case 'effect.intended':
      return [
        { name: 'tool_invocation_started', key: null, invocation: `${event.step}#${event.occurrence}` },
      ];
    case 'effect.recorded':
      return committed(`${event.step}#${event.occurrence}`);
    case 'effect.reconciled':
      return event.verdict === 'happened' ? committed(`${event.step}#${event.occurrence}`) : [];
    default:
      return [];
  }
}

function committed(invocation: string): Named[] {
  return [
    { name: 'tool_invocation_finished', key: null, invocation },
    { name: 'command_committed', key: null, invocation },
  ];
}
