import { z } from 'zod';
import { idempotentHit, taskEvents, tasks as contract, taskView as viewOf } from '../../contracts/index.js';
import type { Engine } from '../../engine/engine.js';
import type { NewJob } from '../../engine/new-job.js';
import { cancelJob } from '../../engine/operator.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { invalid, readTime } from '../../engine/schedules/timing.js';
import { startedOr, tryStartJobs, type StartOutcome } from '../../engine/start-jobs.js';
import {
  changesOf,
  judgeTaskStart,
  SCHEDULE_TYPES,
  type Job,
  type ScheduleType,
} from '../../kernel/index.js';
import { defined } from '../../engine/defined.js';
import { count, milliseconds, optionalScope, optionalText, page, payload, text } from '../fields.js';
import { expectOneTask, onceOtherwise } from '../known-tasks.js';
import { listJobs } from '../list-jobs.js';
import { newJobOf } from '../new-job-of.js';
import { judged, recurringFields, recurringView, shown } from '../recurring.js';
import { createRecurring } from './recurring-tasks.js';
import { created, ok, route, type ApiRequest } from '../route.js';
import { taskView } from '../views.js';

const ROOT = '/api/v1/tasks';

/** What is wrong with a schedule has a code of its own: those fields are read by the handler. */
const create = z.strictObject({
  task_id: text(128).optional(),
  job_type: text(200).optional(),
  schedule_type: z.unknown().optional(),
  scheduled_at: z.unknown().optional(),
  ...recurringFields,
  timeout_ms: milliseconds.nullish(),
  max_retries: count.optional(),
  idempotency_key: text(500).optional(),
  idempotency_scope: optionalScope,
  payload: payload.optional(),
});
type Create = z.output<typeof create>;

const answer = z.union([
  z.strictObject({ idempotent_hit: z.boolean(), task: taskView }),
  z.strictObject({ idempotent_hit: z.boolean(), schedule: recurringView }),
]);
const one = z.strictObject({ task_id: text(128) });

export const taskRoutes = [
  route({
    method: 'POST',
    path: ROOT,
    access: 'operator',
    contract: 'tasks',
    summary: 'Schedule a task, once (`at`) or again and again (`every`, `cron`, `daily`).',
    body: create,
    answers: { 201: answer, 200: answer },
    async handle(request) {
      const type = scheduleTypeOf(request.body);
      return type === 'at' ? createOnce(request) : judged(createRecurring(request, type));
    },
  }),
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    contract: 'tasks',
    summary: "List the tenant's tasks, newest first.",
    query: z.strictObject({
      state: z.enum(contract.machine.states as [string, ...string[]]).optional(),
      job_type: text(200).optional(),
      ...page,
    }),
    answers: { 200: z.strictObject({ tasks: z.array(taskView), next_cursor: z.string().nullable() }) },
    async handle({ engine, caller: { tenantId }, query }) {
      const { state, job_type: task, limit, cursor } = query;
      const status = state as Parameters<typeof contract.statusesOf>[0] | undefined;
      const found = await listJobs(engine, contract, { tenantId, status, task, limit, cursor });
      return ok({ tasks: found.jobs.map(viewOf), next_cursor: found.next });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:task_id`,
    access: 'viewer',
    contract: 'tasks',
    summary: 'A task as it stands.',
    params: one,
    answers: { 200: taskView },
    async handle({ engine, caller, params }) {
      return ok(viewOf(await taskOf(engine, params.task_id, caller)));
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:task_id/events`,
    access: 'viewer',
    contract: 'tasks',
    summary: 'Every change of the state of a task, oldest first.',
    params: one,
    answers: { 200: z.strictObject({ events: z.array(z.record(z.string(), z.unknown())) }) },
    async handle({ engine, caller, params }) {
      const { spec } = await taskOf(engine, params.task_id, caller);
      return ok({ events: taskEvents(changesOf(await readLog(engine.store, spec.jobId))) });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:task_id/cancel`,
    access: 'operator',
    contract: 'tasks',
    summary: 'Cancel a task.',
    params: one,
    body: z.strictObject({ reason: optionalText(1_000) }),
    answers: { 200: taskView },
    async handle({ engine, caller, params, body }) {
      const { spec } = await taskOf(engine, params.task_id, caller);
      return ok(viewOf(await cancelJob(engine, spec.jobId, { ...caller, reason: body.reason ?? null })));
    },
  }),
];

async function createOnce(request: ApiRequest<unknown, unknown, Create>) {
  const { engine, body, caller, defaultTask } = request;
  const scheduledAt = scheduledAtOf(body);
  await expectOneTask(request, body, { recurs: false });
  const asked: NewJob = await newJobOf(request, {
    task: body.job_type ?? defaultTask,
    payload: body.payload,
    ...defined({
      taskId: body.task_id,
      runAt: scheduledAt,
      timeoutMs: body.timeout_ms,
      maxRetries: body.max_retries,
      idempotencyKey: body.idempotency_key,
      scope: body.idempotency_scope ?? undefined,
    }),
    judge: (found) =>
      judgeTaskStart(
        {
          scheduleType: 'at',
          ...defined({ scheduledAt, timeoutMs: body.timeout_ms, maxRetries: body.max_retries }),
        },
        found,
      ),
  });
  const [outcome] = await tryStartJobs(engine, [asked], { actor: caller.actor });
  if (outcome?.kind === 'duplicate') throw onceOtherwise(outcome.job, outcome.conflictFields);
  const started = startedOr(outcome as StartOutcome, asked);
  return started.idempotentHit
    ? ok(idempotentHit(started.job))
    : created({ idempotent_hit: false, task: viewOf(started.job) });
}

function scheduleTypeOf({ schedule_type: type, ...fields }: Create): ScheduleType {
  if (!SCHEDULE_TYPES.includes(type as ScheduleType)) {
    throw invalid('schedule_type', `${shown(type)} is none of ${SCHEDULE_TYPES.join(', ')}`);
  }
  const foreign = Object.keys(recurringFields).find((name) => type === 'at' && name in fields);
  if (foreign !== undefined) throw invalid(foreign, "has no meaning for the schedule type 'at'");
  return type as ScheduleType;
}

function scheduledAtOf({ scheduled_at: at }: Create): number {
  if (typeof at === 'string' && at.length <= 40) return readTime('scheduled_at', at);
  throw invalid(
    'scheduled_at',
    at === undefined ? 'is missing' : 'is no time in UTC such as 2027-01-31T08:00:00Z',
  );
}

/** By its own id, or by the id of its job where it has no other. */
async function taskOf(
  engine: Engine,
  taskId: string,
  { tenantId }: { readonly tenantId: string },
): Promise<Job> {
  const { jobIds } = await engine.store.resolve([{ tenantId, kind: 'task_id', value: taskId }]);
  return ownJob(engine, jobIds[0] ?? taskId, { tenantId });
}
