import { z } from 'zod';
import { jobView as jobViewOf } from '../../contracts/index.js';
import {
  deleteSchedule,
  getSchedule,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  schedulePage,
  triggerSchedule,
} from '../../engine/schedules/manage.js';
import { invalid } from '../../engine/schedules/timing.js';
import { ownJob } from '../../engine/own-job.js';
import { SCHEDULE_TYPES, type ScheduleType } from '../../kernel/index.js';
import { count, milliseconds, page, payload, text } from '../fields.js';
import { judged, recurringFields, recurringView, scheduleView, shown, whenOf, workOf } from '../recurring.js';
import { created, ok, route } from '../route.js';
import { jobView } from '../views.js';

const ROOT = '/api/v1/schedules';
const one = z.strictObject({ schedule_id: text(128) });
const gone = z.strictObject({ deleted: z.literal(true) });

export const scheduleRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    contract: 'tasks',
    summary: "List the tenant's schedules, by their ids.",
    query: z.strictObject(page),
    answers: {
      200: z.strictObject({ schedules: z.array(recurringView), next_cursor: z.string().nullable() }),
    },
    async handle({ engine, caller: { tenantId }, query: { limit, cursor } }) {
      const after = cursor === undefined ? null : { tenantId, scheduleId: cursor };
      const found = await schedulePage(engine, { tenantId, after, limit });
      const next = found.length === limit ? (found.at(-1)?.scheduleId ?? null) : null;
      return ok({ schedules: found.map(scheduleView), next_cursor: next });
    },
  }),
  route({
    method: 'PUT',
    path: `${ROOT}/:schedule_id`,
    access: 'operator',
    contract: 'tasks',
    summary: 'Create a schedule, or make the one that is there what is asked for.',
    params: one,
    body: z.strictObject({
      job_type: text(200),
      schedule_type: z.unknown().optional(),
      scheduled_at: z.unknown().optional(),
      ...recurringFields,
      payload: payload.optional(),
      timeout_ms: milliseconds.nullish(),
      max_retries: count.optional(),
      paused: z.boolean().optional(),
    }),
    answers: { 200: recurringView },
    async handle(request) {
      const { engine, caller, params, body } = request;
      const type = body.schedule_type as ScheduleType;
      if (!SCHEDULE_TYPES.includes(type)) {
        throw invalid('schedule_type', `${shown(type)} is none of ${SCHEDULE_TYPES.join(', ')}`);
      }
      const ref = { tenantId: caller.tenantId, scheduleId: params.schedule_id };
      const options = { ...whenOf(type, body), ...ref, paused: body.paused ?? false };
      const work = await workOf(request, body);
      const put = await judged(putSchedule(engine, options, work));
      if (body.paused === undefined || body.paused === put.paused) return ok(scheduleView(put));
      await (body.paused ? pauseSchedule : resumeSchedule)(engine, ref);
      return ok(scheduleView(await getSchedule(engine, ref)));
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:schedule_id`,
    access: 'viewer',
    contract: 'tasks',
    summary: 'A schedule as it stands.',
    params: one,
    answers: { 200: recurringView },
    async handle({ engine, caller: { tenantId }, params }) {
      return ok(scheduleView(await getSchedule(engine, { tenantId, scheduleId: params.schedule_id })));
    },
  }),
  ...(
    [
      ['pause', 'No more firings until it is resumed. What is missed meanwhile is left out.', pauseSchedule],
      ['resume', 'Let a paused schedule go on.', resumeSchedule],
    ] as const
  ).map(([verb, summary, change]) =>
    route({
      method: 'POST',
      path: `${ROOT}/:schedule_id/${verb}`,
      access: 'operator',
      contract: 'tasks',
      summary,
      params: one,
      body: z.strictObject({}),
      answers: { 200: recurringView },
      async handle({ engine, caller: { tenantId }, params }) {
        const ref = { tenantId, scheduleId: params.schedule_id };
        await change(engine, ref);
        return ok(scheduleView(await getSchedule(engine, ref)));
      },
    }),
  ),
  route({
    method: 'POST',
    path: `${ROOT}/:schedule_id/trigger`,
    access: 'operator',
    contract: 'tasks',
    summary: 'A firing out of turn, now.',
    params: one,
    body: z.strictObject({}),
    answers: { 201: jobView },
    async handle({ engine, caller, params, newId }) {
      const ref = { tenantId: caller.tenantId, scheduleId: params.schedule_id };
      const jobId = await triggerSchedule(engine, ref, { id: newId() });
      return created(jobViewOf(await ownJob(engine, jobId, caller)));
    },
  }),
  route({
    method: 'DELETE',
    path: `${ROOT}/:schedule_id`,
    access: 'operator',
    contract: 'tasks',
    summary: 'Delete a schedule. Jobs that it has started go on.',
    params: one,
    answers: { 200: gone },
    async handle({ engine, caller: { tenantId }, params }) {
      await deleteSchedule(engine, { tenantId, scheduleId: params.schedule_id });
      return ok({ deleted: true });
    },
  }),
];
