import { z } from 'zod';
import { jobView as jobViewOf, utc } from '../../contracts/index.js';
import { approveDiscard, askDiscard, dlqItems, getDlqItem, requeue, requeueAll } from '../../engine/dlq.js';
import type { Engine } from '../../engine/engine.js';
import { DLQ_STATUSES, ERROR_CLASSES, type DlqAction, type DlqItem } from '../../kernel/index.js';
import { badCursor } from '../bad-cursor.js';
import { defined } from '../../engine/defined.js';
import { page, prose, repeating, repeatingOf, text, utcTime, utcTimeOrNull } from '../fields.js';
import { created, ok, route } from '../route.js';
import { jobView } from '../views.js';

const ROOT = '/api/v1/dlq';
const one = z.strictObject({ dlq_id: text(200) });

/** Why, for the trail. */
const reason = prose(1_000).nullish();

const action = z.strictObject({
  action: z.enum(['requeue', 'ask_discard', 'discard']),
  by: z.string(),
  at: utcTime,
  reason: z.string().nullable(),
});
const dlqView = z.strictObject({
  dlq_id: z.string(),
  tenant_id: z.string(),
  job_id: z.string(),
  job_type: z.string(),
  error_class: z.enum(ERROR_CLASSES),
  error_code: z.string(),
  payload_snapshot: z.unknown(),
  context_snapshot: z.strictObject({
    attempts: z.array(
      z.strictObject({
        attempt: z.int(),
        started_at: utcTime,
        ended_at: utcTimeOrNull,
        outcome: z.string().nullable(),
        error_code: z.string().nullable(),
      }),
    ),
    last_events: z.array(z.strictObject({ type: z.string(), at: utcTime })),
  }),
  status: z.enum(DLQ_STATUSES),
  requeued_as: z.string().nullable(),
  discard_asked: action.nullable(),
  trail: z.array(action),
  first_failed_at: utcTime,
  created_at: utcTime,
  updated_at: utcTime,
});

export const deadLetterRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    summary: 'List dead letters, oldest first.',
    query: z.strictObject({
      status: z
        .enum([...DLQ_STATUSES, 'all'])
        .optional()
        .default('open'),
      job_type: text(200).optional(),
      error_code: text(200).optional(),
      ...page,
    }),
    answers: { 200: z.strictObject({ items: z.array(dlqView), next_cursor: z.string().nullable() }) },
    async handle({ engine, caller: { tenantId }, query }) {
      const { status, limit, cursor } = query;
      const filter = { tenantId, ...defined({ task: query.job_type, errorCode: query.error_code }) };
      const after = cursor === undefined ? null : await itemAt(engine, cursor, tenantId);
      const items: DlqItem[] = [];
      for await (const item of dlqItems(engine, filter, status === 'all' ? null : status, after)) {
        if (items.length === limit) return ok({ items: items.map(viewOf), next_cursor: items.at(-1)?.dlqId });
        items.push(item);
      }
      return ok({ items: items.map(viewOf), next_cursor: null });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/requeue`,
    access: 'operator',
    summary: 'Requeue every open dead letter that fits, at no more than a rate; or only count them.',
    body: z.strictObject({
      job_type: text(200).optional(),
      error_code: text(200).optional(),
      dry_run: z.boolean().optional().default(false),
      per_second: z.number().positive().max(100_000).nullish(),
      reason,
      ...repeating,
    }),
    answers: { 200: z.strictObject({ requeued: z.int(), passed_over: z.int(), dry_run: z.boolean() }) },
    async handle({ engine, caller: { tenantId, actor }, body, signal }) {
      const { requeued, passedOver } = await requeueAll(engine, {
        tenantId,
        actor,
        dryRun: body.dry_run,
        perSecond: body.per_second ?? null,
        ...repeatingOf(body),
        reason: body.reason ?? null,
        signal,
        ...defined({ task: body.job_type, errorCode: body.error_code }),
      });
      return ok({ requeued, passed_over: passedOver, dry_run: body.dry_run });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:dlq_id`,
    access: 'viewer',
    summary: 'A dead letter, with what led to it and who did what with it.',
    params: one,
    answers: { 200: dlqView },
    async handle({ engine, caller, params }) {
      return ok(viewOf(await getDlqItem(engine, params.dlq_id, caller)));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:dlq_id/requeue`,
    access: 'operator',
    summary: 'Start a new job in the place of the one that failed.',
    params: one,
    body: z.strictObject({ reason, ...repeating }),
    answers: { 201: jobView },
    async handle({ engine, caller, params, body, newId }) {
      const said = { ...repeatingOf(body), reason: body.reason ?? null };
      const job = await requeue(engine, params.dlq_id, { ...caller, ...said, jobId: newId() });
      return created(jobViewOf(job));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:dlq_id/discard`,
    access: 'operator',
    summary: 'Ask for a dead letter to be discarded. Another reviewer must agree.',
    params: one,
    body: z.strictObject({ reason: prose(1_000).optional().default('') }),
    answers: { 200: dlqView },
    async handle({ engine, caller, params, body }) {
      return ok(viewOf(await askDiscard(engine, params.dlq_id, { ...caller, reason: body.reason })));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:dlq_id/discard/approve`,
    access: 'operator',
    summary: 'Agree to what another reviewer asked for.',
    params: one,
    body: z.strictObject({}),
    answers: { 200: dlqView },
    async handle({ engine, caller, params }) {
      return ok(viewOf(await approveDiscard(engine, params.dlq_id, caller)));
    },
  }),
];

async function itemAt(engine: Engine, cursor: string, tenantId: string): Promise<DlqItem> {
  const { item } = await engine.store.dlqItem(cursor);
  if (item?.tenantId === tenantId) return item;
  throw badCursor();
}

export function viewOf(item: DlqItem): z.output<typeof dlqView> {
  return {
    dlq_id: item.dlqId,
    tenant_id: item.tenantId,
    job_id: item.jobId,
    job_type: item.task,
    error_class: item.errorClass,
    error_code: item.errorCode,
    payload_snapshot: JSON.parse(item.payload) as unknown,
    context_snapshot: {
      attempts: item.context.attempts.map(({ attempt, startedAt, endedAt, outcome, errorCode }) => ({
        attempt,
        started_at: utc(startedAt),
        ended_at: endedAt === null ? null : utc(endedAt),
        outcome,
        error_code: errorCode,
      })),
      last_events: item.context.lastEvents.map(({ type, at }) => ({ type, at: utc(at) })),
    },
    status: item.status,
    requeued_as: item.requeuedAs,
    discard_asked: item.discardAsked && actionOf(item.discardAsked),
    trail: item.trail.map(actionOf),
    first_failed_at: utc(item.firstFailedAt),
    created_at: utc(item.createdAt),
    updated_at: utc(item.updatedAt),
  };
}

function actionOf({ at, ...rest }: DlqAction): z.output<typeof action> {
  return { ...rest, at: utc(at) };
}
