import { z } from 'zod';
import { jobView as jobViewOf, utc, utcOrNull } from '../../contracts/index.js';
import { ALERT_RULES, ALERT_STATES } from '../../engine/alerts/alert.js';
import { listAlerts } from '../../engine/alerts/list-alerts.js';
import { listAudit } from '../../engine/audit.js';
import { toJsonText } from '../../engine/json-text.js';
import { resolveEffect, type OperatorVerdict } from '../../engine/operator.js';
import { unknownEffects } from '../../engine/unknown-effects.js';
import { queueOf } from '../../kernel/index.js';
import { jobId, page, payload, text, utcTime, utcTimeOrNull } from '../fields.js';
import { ok, route } from '../route.js';
import { jobView } from '../views.js';

const queue = z.strictObject({ queue: text(100) });
const paused = z.strictObject({ queue: z.string(), paused_by: z.string(), since: utcTime });

export const operationRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/queues',
    access: 'viewer',
    summary: 'The queues that live workers work on, and those that are paused.',
    answers: {
      200: z.strictObject({ queues: z.array(z.string()), paused: z.array(paused) }),
    },
    async handle({ engine }) {
      const { queues } = await engine.store.pausedQueues();
      const { workers, now } = await engine.store.workers({ incarnations: null });
      const alive = workers.filter(({ leaseUntil }) => leaseUntil > now);
      const worked = new Set(alive.flatMap(({ lanes }) => lanes.map(queueOf)));
      return ok({
        queues: [...worked].toSorted(),
        paused: queues.map(({ queue: name, by, since }) => ({
          queue: name,
          paused_by: by,
          since: utc(since),
        })),
      });
    },
  }),
  ...(['pause', 'resume'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/api/v1/queues/:queue/${verb}`,
      access: 'owner',
      summary:
        verb === 'pause'
          ? 'Let no job of a queue be claimed, whosever it is. What runs goes on.'
          : 'Let the jobs of a queue be claimed again.',
      params: queue,
      body: z.strictObject({}),
      answers: { 200: z.strictObject({ queue: z.string(), paused: z.boolean() }) },
      async handle({ engine, caller, params }) {
        const isPause = verb === 'pause';
        await engine.store.pauseQueue({ queue: params.queue, paused: isPause, by: caller.actor });
        if (!isPause) engine.bells.claims.ring();
        return ok({ queue: params.queue, paused: isPause });
      },
    }),
  ),
  route({
    method: 'GET',
    path: '/api/v1/workers',
    access: 'owner',
    summary: 'The workers that are alive, by their leases.',
    answers: {
      200: z.strictObject({
        workers: z.array(
          z.strictObject({
            worker_id: z.string(),
            incarnation: z.string(),
            lease_until: utcTime,
            queues: z.array(z.string()),
          }),
        ),
      }),
    },
    async handle({ engine }) {
      const { workers, now } = await engine.store.workers({ incarnations: null });
      const alive = workers.filter(({ leaseUntil }) => leaseUntil > now);
      return ok({
        workers: alive.map(({ worker, leaseUntil, lanes }) => ({
          worker_id: worker.id,
          incarnation: worker.incarnation,
          lease_until: utc(leaseUntil),
          queues: [...new Set(lanes.map(queueOf))].toSorted(),
        })),
      });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/effects/unknown',
    access: 'viewer',
    summary: 'Effects that nobody knows the outcome of, and whose jobs wait for an operator.',
    answers: {
      200: z.strictObject({
        effects: z.array(
          z.strictObject({
            job_id: z.string(),
            job_type: z.string(),
            step: z.string(),
            occurrence: z.int(),
            entry: z.int(),
            waiting_since: utcTime,
          }),
        ),
      }),
    },
    async handle({ engine, caller }) {
      const found = await unknownEffects(engine, caller.tenantId);
      return ok({
        effects: found.map(({ jobId: job_id, task, step, occurrence, entry, waitingSince }) => ({
          job_id,
          job_type: task,
          step,
          occurrence,
          entry,
          waiting_since: utc(waitingSince),
        })),
      });
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/jobs/:job_id/effects/resolve',
    access: 'operator',
    summary: 'Decide on an effect of unknown outcome that a job is parked on.',
    params: z.strictObject({ job_id: jobId }),
    body: z.strictObject({
      step: text(200),
      occurrence: z.int().min(1).optional().default(1),
      entry: z
        .int()
        .min(1)
        .optional()
        .describe('the entry that was looked into: refused if the job waits for another by now'),
      verdict: z.enum(['happened', 'notHappened', 'fail']),
      result: payload.optional(),
    }),
    answers: { 200: jobView },
    async handle({ engine, caller, params, body }) {
      const { step, occurrence, entry = null, verdict: kind, result } = body;
      const verdict: OperatorVerdict =
        kind === 'happened' ? { kind, result: toJsonText(result, 'the result of the effect') } : { kind };
      const asked = { jobId: params.job_id, step, occurrence, entry, verdict };
      return ok(jobViewOf(await resolveEffect(engine, asked, caller)));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/alerts',
    access: 'viewer',
    summary: 'What somebody should look at, newest first.',
    query: z.strictObject({
      state: z
        .enum([...ALERT_STATES, 'all'])
        .optional()
        .default('raised'),
      limit: page.limit,
    }),
    answers: {
      200: z.strictObject({
        alerts: z.array(
          z.strictObject({
            alert_id: z.string(),
            rule: z.enum(ALERT_RULES),
            severity: z.enum(['P1', 'P2']),
            state: z.enum(ALERT_STATES),
            message: z.string(),
            value: z.number(),
            threshold: z.number(),
            since: utcTime,
            raised_at: utcTimeOrNull,
            cleared_at: utcTimeOrNull,
            job_id: z.string().nullable(),
            trace_id: z.string().nullable(),
            step: z.string().nullable(),
          }),
        ),
      }),
    },
    async handle({ engine, caller: { tenantId }, query }) {
      const state = query.state === 'all' ? null : query.state;
      const found = await listAlerts(engine, { tenantId, state, limit: query.limit });
      return ok({
        alerts: found.map((alert) => ({
          alert_id: alert.alertId,
          rule: alert.rule,
          severity: alert.severity,
          state: alert.state,
          message: alert.message,
          value: alert.value,
          threshold: alert.threshold,
          since: utc(alert.since),
          raised_at: utcOrNull(alert.raisedAt),
          cleared_at: utcOrNull(alert.clearedAt),
          job_id: alert.jobId,
          trace_id: alert.traceId,
          step: alert.step,
        })),
      });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit',
    access: 'operator',
    summary: 'Who did what, when and why, oldest first.',
    query: z.strictObject(page),
    answers: {
      200: z.strictObject({
        entries: z.array(
          z.strictObject({
            id: z.string(),
            action: z.string(),
            subject: z.string(),
            by: z.string(),
            at: utcTime,
            reason: z.string().nullable(),
          }),
        ),
        next_cursor: z.string().nullable(),
      }),
    },
    async handle({ engine, caller: { tenantId }, query: { limit, cursor } }) {
      const found = await listAudit(engine, { tenantId, after: cursor ?? null, limit });
      return ok({
        entries: found.map(({ tenantId: _tenant, at, ...rest }) => ({ ...rest, at: utc(at) })),
        next_cursor: found.length === limit ? (found.at(-1)?.id ?? null) : null,
      });
    },
  }),
];
