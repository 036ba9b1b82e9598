import { jobView, type JobView, type LogEvent, type StepSnapshot } from '../contracts/index.js';
import type { Job, Status } from '../kernel/index.js';
import { sheet, table } from './table.js';

/** A job as `--json` shows it: what the HTTP API shows, and the engine's own word for its state. */
export type JobShown = JobView & { readonly state: Status };

export function shownJob(job: Job): JobShown {
  return { ...jobView(job), state: job.status };
}

export function jobTable(jobs: readonly JobShown[]): string {
  const rows = jobs.map(({ job_id, job_type, state, retry_count, error_code, tenant_id, created_at }) => [
    job_id,
    job_type,
    state,
    retry_count,
    error_code,
    tenant_id,
    created_at,
  ]);
  return table(['JOB', 'TASK', 'STATE', 'RETRIES', 'ERROR', 'TENANT', 'CREATED'], rows);
}

export function jobSheet(stored: Job): string {
  const job = shownJob(stored);
  const isLater = stored.spec.scheduledAt > stored.createdAt;
  return sheet({
    job: job.job_id,
    task: job.job_type,
    state: job.state,
    tenant: job.tenant_id,
    queue: job.queue,
    priority: job.priority === 0 ? null : job.priority,
    key: job.idempotency_key === job.job_id ? null : job.idempotency_key,
    retries: job.retry_count,
    error: job.error_code,
    'dead letter': job.dlq_id,
    'requeued from': job.requeued_from,
    continues: job.continues,
    created: job.created_at,
    scheduled: isLater ? job.scheduled_at : null,
    started: job.started_at,
    'next retry': job.next_retry_at,
    finished: job.finished_at,
    input: JSON.stringify(job.payload_json),
    result: job.state === 'succeeded' ? JSON.stringify(job.result_json) : null,
    trace: job.trace_id,
  });
}

export function stepTable(steps: readonly StepSnapshot[]): string {
  const rows = steps.map(({ name, status, started_at, finished_at, message }) => [
    name,
    status,
    started_at,
    finished_at,
    message ?? '',
  ]);
  return table(['STEP', 'STATE', 'STARTED', 'FINISHED', ''], rows);
}

export function eventTable(events: readonly LogEvent[]): string {
  const rows = events.map(({ rev, type, occurred_at, actor, status, data }) => [
    rev,
    occurred_at,
    type,
    status,
    actor,
    aboutEvent(data),
  ]);
  return table(['REV', 'AT', 'EVENT', 'STATE', 'BY', ''], rows);
}

/** The member of an event that tells most about it. */
function aboutEvent(data: LogEvent['data']): string {
  const { step, failure, key, waits, wait } = data as {
    step?: string;
    failure?: { code: string } | null;
    key?: string;
    wait?: { step: string };
    waits?: readonly { step: string }[];
  };
  const about = step ?? wait?.step ?? waits?.map((one) => one.step).join(', ') ?? key ?? '';
  return [about, failure?.code ?? ''].filter((part) => part !== '').join(' ');
}
