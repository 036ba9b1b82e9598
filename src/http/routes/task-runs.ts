import { z } from 'zod';
import { runAttempts, runEvents, runView as viewOf, taskRuns as contract } from '../../contracts/index.js';
import { cancelJob } from '../../engine/operator.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { startRun } from '../../engine/start-run.js';
import { changesOf } from '../../kernel/index.js';
import { defined } from '../../engine/defined.js';
import { count, jobId, milliseconds, optionalText, page, payload, text } from '../fields.js';
import { listJobs } from '../list-jobs.js';
import { newJobOf } from '../new-job-of.js';
import { created, ok, route } from '../route.js';
import { started } from '../started.js';
import { runView } from '../views.js';

const ROOT = '/api/v1/task-runs';
const one = z.strictObject({ run_id: jobId });
const answer = runView.extend({ idempotent_hit: z.boolean() });
const events = z.strictObject({ events: z.array(z.record(z.string(), z.unknown())) });

export const taskRunRoutes = [
  route({
    method: 'POST',
    path: ROOT,
    access: 'operator',
    contract: 'task-runs',
    summary:
      'Create a run for a task. A task has at most one live run; the same key finds the run that it made.',
    body: z.strictObject({
      task_id: text(128),
      job_type: text(200).optional(),
      run_id: jobId.optional(),
      idempotency_key: text(500).optional(),
      payload: payload.optional(),
      max_retries: count.optional(),
      timeout_ms: milliseconds.nullish(),
      trace_id: text(200).optional(),
    }),
    answers: { 201: answer, 200: answer },
    async handle(request) {
      const { body, engine, caller, defaultTask } = request;
      const asked = await newJobOf(request, {
        task: body.job_type ?? defaultTask,
        payload: body.payload,
        taskId: body.task_id,
        ...defined({
          jobId: body.run_id,
          idempotencyKey: body.idempotency_key,
          maxRetries: body.max_retries,
          timeoutMs: body.timeout_ms,
          traceId: body.trace_id,
        }),
      });
      const { job, idempotentHit } = started(await startRun(engine, asked, caller), asked);
      const data = { ...viewOf(job), idempotent_hit: idempotentHit };
      return idempotentHit ? ok(data) : created(data);
    },
  }),
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    contract: 'task-runs',
    summary: "List the tenant's runs, newest first.",
    query: z.strictObject({
      run_status: z.enum(contract.machine.states as [string, ...string[]]).optional(),
      job_type: text(200).optional(),
      ...page,
    }),
    answers: { 200: z.strictObject({ runs: z.array(runView), next_cursor: z.string().nullable() }) },
    async handle({ engine, caller: { tenantId }, query }) {
      const { run_status, job_type: task, limit, cursor } = query;
      const status = run_status as Parameters<typeof contract.statusesOf>[0] | undefined;
      const found = await listJobs(engine, contract, { tenantId, status, task, limit, cursor });
      return ok({ runs: found.jobs.map(viewOf), next_cursor: found.next });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:run_id`,
    access: 'viewer',
    contract: 'task-runs',
    summary: 'A run as it stands.',
    params: one,
    answers: { 200: runView },
    async handle({ engine, caller, params }) {
      return ok(viewOf(await ownJob(engine, params.run_id, caller)));
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:run_id/events`,
    access: 'viewer',
    contract: 'task-runs',
    summary: 'Every change of the status of a run, oldest first.',
    params: one,
    answers: { 200: events },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.run_id, caller);
      return ok({ events: runEvents(changesOf(await readLog(engine.store, params.run_id))) });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:run_id/attempts`,
    access: 'viewer',
    contract: 'task-runs',
    summary: 'The attempts of a run, numbered over all runs of its task.',
    params: one,
    answers: { 200: z.strictObject({ attempts: z.array(z.record(z.string(), z.unknown())) }) },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.run_id, caller);
      return ok({ attempts: runAttempts(changesOf(await readLog(engine.store, params.run_id))) });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:run_id/cancel`,
    access: 'operator',
    contract: 'task-runs',
    summary: 'Cancel a run.',
    params: one,
    body: z.strictObject({ reason: optionalText(1_000) }),
    answers: { 200: runView },
    async handle({ engine, caller, params, body }) {
      const job = await cancelJob(engine, params.run_id, { ...caller, reason: body.reason ?? null });
      return ok(viewOf(job));
    },
  }),
];
