import {
  isParked,
  type Change,
  type Event,
  type Job,
  type Status,
  type Wait,
  type WaitKind,
  type WaitOutcome,
} from '../kernel/index.js';
import { eventIdOf, statusesShownAs, type Contract } from './contract.js';
import type { Machine } from './machine.js';
import { utc, utcOrNull } from './utc.js';

export type GuaranteeStatus =
  | 'Pending'
  | 'Running'
  | 'Waiting'
  | 'Parked'
  | 'Retrying'
  | 'Completed'
  | 'Failed'
  | 'Cancelled';

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
  statusesOf: (state) => statusesShownAs(STATUS, state, { Parked: ['waiting'] }),
};

export type WaitView = {
  readonly correlation_key: string;
  readonly kind: WaitKind;
  readonly reason: string | null;
  readonly expires_at: string | null;
};

export type GuaranteeView = {
  readonly job_id: string;
  readonly status: GuaranteeStatus;
  readonly attempt_id: string | null;
  readonly failure_class: FailureClass | null;
  /** What the job waits for; empty while it does not. */
  readonly waits: readonly WaitView[];
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
    waits: job.status === 'waiting' ? job.waits.map(waitView) : [],
    created_at: utc(job.createdAt),
    updated_at: utc(job.updatedAt),
  };
}

/** A failure that ended the job is permanent, whatever it was while retries were left. */
function failureClassOf(job: Job): FailureClass {
  return job.deadLetter === null ? 'retryable_failure' : 'permanent_failure';
}

function waitView({ key, kind, reason, expiresAt }: Wait): WaitView {
  return { correlation_key: key, kind, reason, expires_at: utcOrNull(expiresAt) };
}

type WaitFields = WaitView & { readonly event: 'job_waiting' };
type WaitEndFields = WaitView & { readonly event: 'wait_completed'; readonly outcome: WaitOutcome };
type ToolFields = {
  readonly event: 'tool_invocation_started' | 'tool_invocation_finished' | 'command_committed';
  readonly step: string;
  readonly occurrence: number;
  /** Numbers the times that the tool was entered for this step. */
  readonly entry: number;
};

export type GuaranteeEvent = {
  readonly event_id: string;
  readonly job_id: string;
  readonly attempt_id: string | null;
  readonly occurred_at: string;
} & (WaitFields | WaitEndFields | ToolFields);

/** The source's own events. One commit of an effect is both the end of its invocation and its commit. */
export function guaranteeEvents(changes: readonly Change[]): GuaranteeEvent[] {
  return changes.flatMap((change) =>
    fieldsOf(change.event).map((fields, i) => ({
      event_id: i === 0 ? eventIdOf(change) : `${eventIdOf(change)}.${i}`,
      job_id: change.after.spec.jobId,
      attempt_id: change.after.attemptId,
      occurred_at: utc(change.event.at),
      ...fields,
    })),
  );
}

function fieldsOf(event: Event): (WaitFields | WaitEndFields | ToolFields)[] {
  switch (event.type) {
    case 'wait.begun':
      return event.waits.map((wait) => ({ event: 'job_waiting', ...waitView(wait) }));
    case 'wait.completed':
      return [{ event: 'wait_completed', ...waitView(event.wait), outcome: event.outcome }];
    case 'effect.intended':
      return [{ event: 'tool_invocation_started', ...entryOf(event) }];
    case 'effect.recorded':
      return committed(event);
    case 'effect.reconciled':
      return event.verdict === 'happened' ? committed(event) : [];
    default:
      return [];
  }
}

type Entry = Pick<ToolFields, 'step' | 'occurrence' | 'entry'>;

function committed(event: Entry): ToolFields[] {
  return [
    { event: 'tool_invocation_finished', ...entryOf(event) },
    { event: 'command_committed', ...entryOf(event) },
  ];
}

function entryOf({ step, occurrence, entry }: Entry): Entry {
  return { step, occurrence, entry };
}
