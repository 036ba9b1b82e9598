import type { Job, Status } from '../kernel/index.js';
import { statusesShownAs, type Contract } from './contract.js';
import type { Machine } from './machine.js';
import { payloadValue } from './payload-value.js';
import { utc, utcOrNull } from './utc.js';

export const JOB_STATUSES = [
  'queued',
  'running',
  'retrying',
  'succeeded',
  'dlq_pending',
  'dlq_recorded',
  'failed',
  'cancelled',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

const machine: Machine<JobStatus> = {
  states: JOB_STATUSES,
  edges: [
    { from: null, to: 'queued' },
    { from: 'queued', to: 'running' },
    { from: 'running', to: 'succeeded' },
    { from: 'running', to: 'retrying' },
    { from: 'running', to: 'dlq_pending' },
    { from: 'retrying', to: 'running' },
    { from: 'retrying', to: 'dlq_pending' },
    { from: 'dlq_pending', to: 'dlq_recorded' },
    { from: 'dlq_recorded', to: 'failed' },
    { from: 'queued', to: 'cancelled', added: true },
    { from: 'running', to: 'cancelled', added: true },
    { from: 'retrying', to: 'cancelled', added: true },
  ],
};

const STATUS: Readonly<Record<Status, JobStatus>> = {
  scheduled: 'queued',
  queued: 'queued',
  running: 'running',
  waiting: 'running',
  unblocked: 'running',
  retrying: 'retrying',
  interrupted: 'running',
  dlq_pending: 'dlq_pending',
  dlq_recorded: 'dlq_recorded',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Jobs: retries and the dead-letter queue. */
export const jobs: Contract<JobStatus> = {
  name: 'jobs',
  resource: '/api/v1/jobs',
  machine,
  project: (job) => STATUS[job.status],
  statusesOf: (state) => statusesShownAs(STATUS, state),
};

export type JobView = {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly job_type: string;
  readonly status: JobStatus;
  readonly retry_count: number;
  readonly idempotency_key: string;
  readonly trace_id: string;
  readonly error_code: string | null;
  readonly payload_json: unknown;
  readonly next_retry_at: string | null;
  readonly result_json: unknown;
  readonly dlq_id: string | null;
  readonly requeued_from: string | null;
  /** The job whose record this one goes on with. */
  readonly continues: string | null;
  readonly queue: string;
  readonly priority: number;
  readonly scheduled_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
};

export function jobView(job: Job): JobView {
  return {
    job_id: job.spec.jobId,
    tenant_id: job.spec.tenantId,
    job_type: job.spec.task,
    status: jobs.project(job),
    retry_count: job.retryCount,
    idempotency_key: job.spec.idempotencyKey,
    trace_id: job.spec.traceId,
    error_code: job.failure && job.failure.code,
    payload_json: payloadValue(job.input),
    next_retry_at: utcOrNull(job.nextRetryAt),
    result_json: payloadValue(job.result),
    dlq_id: job.deadLetter && job.deadLetter.dlqId,
    requeued_from: job.spec.requeuedFrom,
    continues: job.spec.continues && job.spec.continues.jobId,
    queue: job.spec.queue,
    priority: job.spec.priority,
    scheduled_at: utc(job.spec.scheduledAt),
    created_at: utc(job.createdAt),
    updated_at: utc(job.updatedAt),
    started_at: utcOrNull(job.startedAt),
    finished_at: utcOrNull(job.finishedAt),
  };
}
