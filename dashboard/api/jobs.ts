import { get, post, type Query } from './call.js';
import { repeatingBody, type Repeating } from './repeating.js';
import { anything, list, nullable, number, object, oneOf, text, type Of } from './shape.js';

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

const job = object({
  job_id: text,
  tenant_id: text,
  job_type: text,
  status: oneOf(...JOB_STATUSES),
  retry_count: number,
  idempotency_key: text,
  trace_id: text,
  error_code: nullable(text),
  payload_json: anything,
  next_retry_at: nullable(text),
  result_json: anything,
  dlq_id: nullable(text),
  requeued_from: nullable(text),
  continues: nullable(text),
  queue: text,
  priority: number,
  scheduled_at: text,
  created_at: text,
  updated_at: text,
  started_at: nullable(text),
  finished_at: nullable(text),
});
export type Job = Of<typeof job>;

const page = object({ jobs: list(job), next_cursor: nullable(text) });
export type JobPage = Of<typeof page>;

const why = object({ code: text, sentence: text, until: nullable(text) });
export type Why = Of<typeof why>;

const step = object({
  name: text,
  status: text,
  started_at: nullable(text),
  finished_at: nullable(text),
  message: nullable(text),
});
const steps = object({ steps: list(step) });
export type Step = Of<typeof step>;

const attempt = object({
  attempt: number,
  idempotency_key: text,
  outcome: nullable(text),
  error_code: nullable(text),
  started_at: text,
  ended_at: nullable(text),
});
const attempts = object({ attempts: list(attempt) });
export type Attempt = Of<typeof attempt>;

const signalled = object({ outcome: oneOf('delivered', 'kept', 'repeated') });

const ROOT = '/api/v1/jobs';
const pathOf = (jobId: string): string => `${ROOT}/${encodeURIComponent(jobId)}`;

export const listJobs = (query: Query, signal: AbortSignal): Promise<JobPage> =>
  get(ROOT, page, { query, signal });

export const readJob = (jobId: string, signal: AbortSignal): Promise<Job> =>
  get(pathOf(jobId), job, { signal });

export type JobDetails = {
  readonly job: Job;
  readonly why: Why;
  readonly steps: readonly Step[];
  readonly attempts: readonly Attempt[];
};

export async function readDetails(jobId: string, signal: AbortSignal): Promise<JobDetails> {
  const path = pathOf(jobId);
  const [one, reason, taken, tried] = await Promise.all([
    readJob(jobId, signal),
    get(`${path}/why`, why, { signal }),
    get(`${path}/steps`, steps, { signal }),
    get(`${path}/attempts`, attempts, { signal }),
  ]);
  return { job: one, why: reason, steps: taken.steps, attempts: tried.attempts };
}

export const streamOf = (jobId: string): string => `${pathOf(jobId)}/stream`;

export const cancelJob = (jobId: string, reason: string, once: string): Promise<Job> =>
  post(`${pathOf(jobId)}/cancel`, job, { reason: reason === '' ? null : reason }, once);

export const abandonJob = (jobId: string, reason: string, once: string): Promise<Job> =>
  post(`${pathOf(jobId)}/abandon`, job, { reason }, once);

export const retryJob = (jobId: string, repeating: Repeating, once: string): Promise<Job> =>
  post(`${pathOf(jobId)}/retry`, job, repeatingBody(repeating), once);

export const signalJob = (
  jobId: string,
  { key, payload }: { key: string; payload: unknown },
  once: string,
): Promise<Of<typeof signalled>> =>
  post(`${pathOf(jobId)}/signal`, signalled, { correlation_key: key, payload }, once);

export const resolveEffect = (
  jobId: string,
  verdict: {
    step: string;
    occurrence: number;
    entry: number;
    verdict: 'happened' | 'notHappened' | 'fail';
    result?: unknown;
  },
  once: string,
): Promise<Job> => post(`${pathOf(jobId)}/effects/resolve`, job, verdict, once);
