import { attemptRecordsOf, type AttemptRecord } from './attempt-record.js';
import type { EventType } from './event.js';
import type { ErrorClass } from './failure.js';
import type { Change } from './history.js';
import { must } from './invariant-violation.js';
import type { JsonText, Timestamp } from './payload.js';

export const DLQ_STATUSES = ['open', 'requeued', 'discarded'] as const;
export type DlqStatus = (typeof DLQ_STATUSES)[number];

export type DlqItem = {
  readonly dlqId: string;
  readonly tenantId: string;
  readonly jobId: string;
  readonly task: string;
  /** One more with every change. */
  readonly version: number;
  readonly errorClass: ErrorClass;
  /** The underlying error, not the fact that retries ran out. */
  readonly errorCode: string;
  readonly payload: JsonText;
  readonly context: {
    readonly attempts: readonly AttemptRecord[];
    readonly lastEvents: readonly { readonly type: EventType; readonly at: Timestamp }[];
  };
  readonly status: DlqStatus;
  /** The job that took over, once it was requeued. */
  readonly requeuedAs: string | null;
  /** Somebody wants it discarded; another must agree. */
  readonly discardAsked: DlqAction | null;
  /** Who did what with it, and why, oldest first. */
  readonly trail: readonly DlqAction[];
  readonly firstFailedAt: Timestamp;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
};

export type DlqAction = {
  readonly action: 'requeue' | 'ask_discard' | 'discard';
  readonly by: string;
  readonly at: Timestamp;
  readonly reason: string | null;
};

/** How much of a long history an item keeps: enough to see what led here, little enough to list. */
const LAST_EVENTS = 20;

/** The item of a job whose changes end in `failed`: written by the commit that holds its three events. */
export function openDlqItem(changes: readonly Change[]): DlqItem {
  const { after: job, event: last } = must(changes.at(-1), 'a dead-lettered job has changes');
  const failure = must(job.failure, 'a dead-lettered job has failed');
  const firstFailed = changes.find(
    ({ event }) => event.type === 'attempt.failed' || event.type === 'dlq.entered',
  );
  return {
    dlqId: must(job.deadLetter?.dlqId, 'a dead-lettered job has an item'),
    tenantId: job.spec.tenantId,
    jobId: job.spec.jobId,
    task: job.spec.task,
    version: 1,
    errorClass: failure.class,
    errorCode: failure.code,
    payload: job.input,
    context: {
      attempts: attemptRecordsOf(changes),
      lastEvents: changes.slice(-LAST_EVENTS).map(({ event }) => ({ type: event.type, at: event.at })),
    },
    status: 'open',
    requeuedAs: null,
    discardAsked: null,
    trail: [],
    firstFailedAt: must(firstFailed, 'a dead-lettered job has failed').event.at,
    createdAt: last.at,
    updatedAt: last.at,
  };
}
