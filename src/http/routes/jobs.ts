import { z } from 'zod';
import { JOB_STATUSES, jobs, jobView as viewOf } from '../../contracts/index.js';
import { awaitEnd } from '../../engine/await-end.js';
import type { Engine } from '../../engine/engine.js';
import type { NewJob } from '../../engine/new-job.js';
import { abandonJob, cancelJob } from '../../engine/operator.js';
import { ownJob } from '../../engine/own-job.js';
import { readTime } from '../../engine/schedules/timing.js';
import { retryAsNew } from '../../engine/retry-as-new.js';
import { tryStartJobs, type StartOutcome } from '../../engine/start-jobs.js';
import { PawlError } from '../../errors.js';
import type { Job } from '../../kernel/index.js';
import { defined } from '../../engine/defined.js';
import {
  count,
  jobId,
  milliseconds,
  optionalScope,
  optionalText,
  page,
  payload,
  repeating,
  repeatingOf,
  text,
  utcTime,
} from '../fields.js';
import { listJobs } from '../list-jobs.js';
import { newJobOf, type StartRequest } from '../new-job-of.js';
import { created, ok, route } from '../route.js';
import { started as startedJob } from '../started.js';
import { jobView } from '../views.js';

const ROOT = '/api/v1/jobs';
const MOST_BULK = 1_000;
const MOST_WAIT_MS = 60_000;

const start = z.strictObject({
  job_type: text(200),
  payload: payload.optional(),
  job_id: jobId.optional(),
  queue: text(100).optional(),
  priority: z.int().min(-1_000_000).max(1_000_000).optional(),
  delay_ms: milliseconds.optional(),
  run_at: utcTime.max(40).optional(),
  idempotency_key: text(500).optional(),
  idempotency_scope: optionalScope,
  concurrency_key: optionalText(500),
  max_retries: count.optional(),
  timeout_ms: milliseconds.nullish(),
  deadline_ms: milliseconds.optional(),
  trace_id: text(200).optional(),
});

const one = z.strictObject({ job_id: jobId });
const started = jobView.extend({ idempotent_hit: z.boolean() });
const refusal = z.strictObject({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  conflict_fields: z.array(z.string()).optional(),
});

export const jobRoutes = [
  route({
    method: 'POST',
    path: ROOT,
    access: 'operator',
    summary: 'Start a job, or find the one that was started with the same key.',
    body: start,
    answers: { 201: started, 200: started },
    async handle(request) {
      const asked = await newJobOf(request, startRequest(request.body));
      const [outcome] = await tryStartJobs(request.engine, [asked], { actor: request.caller.actor });
      const { job, idempotentHit } = startedJob(outcome, asked);
      const data = { ...viewOf(job), idempotent_hit: idempotentHit };
      return idempotentHit ? ok(data) : created(data);
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/bulk`,
    access: 'operator',
    summary: 'Start up to 1000 jobs in one commit. Each gets an answer of its own.',
    body: z.strictObject({ jobs: z.array(start).min(1).max(MOST_BULK) }),
    answers: {
      201: z.strictObject({
        jobs: z.array(
          z.union([
            z.strictObject({ job_id: z.string(), status: z.enum(JOB_STATUSES), idempotent_hit: z.boolean() }),
            z.strictObject({ error: refusal }),
          ]),
        ),
      }),
    },
    async handle(request) {
      const asked = await Promise.all(request.body.jobs.map((job) => oneOf(request, job).catch(misfit)));
      const fitting = asked.flatMap((job) => (job instanceof PawlError ? [] : [job]));
      const outcomes = await tryStartJobs(request.engine, fitting, { actor: request.caller.actor });
      const answers = outcomes.map((outcome, index) => bulkAnswer(outcome, fitting[index] as NewJob));
      return created({
        jobs: asked.map((job) => (job instanceof PawlError ? refused(job) : answers.shift())),
      });
    },
  }),
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    summary: "List the tenant's jobs, newest first.",
    query: z.strictObject({
      status: z.enum(JOB_STATUSES).optional(),
      job_type: text(200).optional(),
      ...page,
    }),
    answers: { 200: z.strictObject({ jobs: z.array(jobView), next_cursor: z.string().nullable() }) },
    async handle({ engine, caller, query }) {
      const { status, job_type: task, limit, cursor } = query;
      const found = await listJobs(engine, jobs, { tenantId: caller.tenantId, status, task, limit, cursor });
      return ok({ jobs: found.jobs.map(viewOf), next_cursor: found.next });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:job_id`,
    access: 'viewer',
    summary: 'A job as it stands. With `wait_ms`, as it stands once it has ended, or when that time is over.',
    params: one,
    query: z.strictObject({
      wait_ms: z
        .string()
        .regex(/^\d{1,5}$/)
        .transform(Number)
        .optional(),
    }),
    answers: { 200: jobView },
    async handle({ engine, caller, params, query, signal }) {
      const job = await ownJob(engine, params.job_id, caller);
      if (query.wait_ms === undefined || job.finishedAt !== null) return ok(viewOf(job));
      return ok(viewOf(await endOf(engine, job, { waitMs: Math.min(query.wait_ms, MOST_WAIT_MS), signal })));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:job_id/cancel`,
    access: 'operator',
    summary: 'Give up on a job for good. A handler that runs it is aborted.',
    params: one,
    body: z.strictObject({ reason: optionalText(1_000) }),
    answers: { 200: jobView },
    async handle({ engine, caller, params, body }) {
      const job = await cancelJob(engine, params.job_id, { ...caller, reason: body.reason ?? null });
      return ok(viewOf(job));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:job_id/abandon`,
    access: 'operator',
    summary:
      'Fail a job for good that is running, retrying or interrupted. A handler that runs it is aborted. It ends in the dead letters, and can be requeued from there.',
    params: one,
    body: z.strictObject({ reason: text(1_000).regex(/\S/, 'is blank') }),
    answers: { 200: jobView },
    async handle({ engine, caller, params, body }) {
      return ok(viewOf(await abandonJob(engine, params.job_id, { ...caller, ...body })));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:job_id/retry`,
    access: 'operator',
    summary: 'The work of a job that has ended once more, as a new job.',
    params: one,
    body: z.strictObject(repeating),
    answers: { 201: jobView },
    async handle({ engine, caller, params, body, newId }) {
      const again = { ...caller, ...repeatingOf(body), newId: newId() };
      return created(viewOf(await retryAsNew(engine, params.job_id, again)));
    },
  }),
];

function startRequest(body: z.output<typeof start>): StartRequest {
  return {
    task: body.job_type,
    payload: body.payload,
    concurrencyKey: body.concurrency_key ?? null,
    ...defined({
      jobId: body.job_id,
      queue: body.queue,
      priority: body.priority,
      delay: body.delay_ms,
      runAt: body.run_at === undefined ? undefined : readTime('run_at', body.run_at),
      idempotencyKey: body.idempotency_key,
      scope: body.idempotency_scope ?? undefined,
      maxRetries: body.max_retries,
      timeoutMs: body.timeout_ms,
      deadline: body.deadline_ms,
      traceId: body.trace_id,
    }),
  };
}

function bulkAnswer(outcome: StartOutcome, asked: NewJob): object {
  try {
    const { job, idempotentHit } = startedJob(outcome, asked);
    return { job_id: job.spec.jobId, status: jobs.project(job), idempotent_hit: idempotentHit };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    return refused(error);
  }
}

function refused({ code, message, retryable, details }: PawlError): object {
  const conflict_fields = details['conflict_fields'] as string[] | undefined;
  return { error: { code, message, retryable, ...defined({ conflict_fields }) } };
}

/** Whatever is wrong with it is a rejection. */
async function oneOf(request: Parameters<typeof newJobOf>[0], body: z.output<typeof start>): Promise<NewJob> {
  return newJobOf(request, startRequest(body));
}

/** One payload that does not fit its task's schema is no trouble of the others. */
function misfit(error: unknown): PawlError {
  if (error instanceof PawlError && !error.retryable) return error;
  throw error;
}

/** The job once it has ended, or as it stands when the time is over. */
async function endOf(
  engine: Engine,
  job: Job,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Job> {
  try {
    return await awaitEnd(engine, job.spec.jobId, { timeoutMs: waitMs, signal });
  } catch (error) {
    if (error instanceof PawlError && error.code === 'RESULT_TIMEOUT') {
      return ownJob(engine, job.spec.jobId, { tenantId: null });
    }
    throw error;
  }
}
