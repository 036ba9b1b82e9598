import { z } from 'zod';
import { logEvent, stepsOf, utc, utcOrNull, type LogEvent } from '../../contracts/index.js';
import { toJsonText } from '../../engine/json-text.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { signalJob } from '../../engine/signal-job.js';
import { explain } from '../../engine/why.js';
import { attemptRecordsOf, changesOf } from '../../kernel/index.js';
import { jobId, page, payload, text, utcTime, utcTimeOrNull, wholeNumber } from '../fields.js';
import { ok, route, type Answer } from '../route.js';
import { logEventView, stepSnapshot } from '../views.js';

const ROOT = '/api/v1/jobs/:job_id';
const one = z.strictObject({ job_id: jobId });

export const jobDetailRoutes = [
  route({
    method: 'GET',
    path: `${ROOT}/events`,
    access: 'viewer',
    summary: "The job's log in the engine's own words, oldest first.",
    params: one,
    query: z.strictObject({ after_rev: wholeNumber.optional(), limit: page.limit }),
    answers: {
      200: z.strictObject({ events: z.array(logEventView), next_after_rev: z.int().nullable() }),
    },
    async handle({ engine, caller, params, query }) {
      await ownJob(engine, params.job_id, caller);
      const { after_rev: afterRev = 0, limit } = query;
      const changes = changesOf(await readLog(engine.store, params.job_id));
      const behind = changes.filter(({ rev }) => rev > afterRev);
      return ok(eventsPage(behind.map(logEvent), limit));
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/steps`,
    access: 'viewer',
    summary: 'What the steps of the job have come to, in the order in which they began.',
    params: one,
    answers: { 200: z.strictObject({ steps: z.array(stepSnapshot) }) },
    async handle({ engine, caller, params }) {
      const job = await ownJob(engine, params.job_id, caller);
      return ok({ steps: stepsOf(job, changesOf(await readLog(engine.store, params.job_id))) });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/attempts`,
    access: 'viewer',
    summary: 'The attempts of the job, each with its own idempotency key.',
    params: one,
    answers: {
      200: z.strictObject({
        attempts: z.array(
          z.strictObject({
            attempt: z.int(),
            idempotency_key: z.string(),
            outcome: z.string().nullable(),
            error_code: z.string().nullable(),
            started_at: utcTime,
            ended_at: utcTimeOrNull,
          }),
        ),
      }),
    },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.job_id, caller);
      const records = attemptRecordsOf(changesOf(await readLog(engine.store, params.job_id)));
      return ok({
        attempts: records.map(({ attempt, idempotencyKey, outcome, errorCode, startedAt, endedAt }) => ({
          attempt,
          idempotency_key: idempotencyKey,
          outcome,
          error_code: errorCode,
          started_at: utc(startedAt),
          ended_at: utcOrNull(endedAt),
        })),
      });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/why`,
    access: 'viewer',
    summary: 'What the job is waiting for, in one sentence.',
    params: one,
    answers: {
      200: z.strictObject({ code: z.string(), sentence: z.string(), until: utcTimeOrNull }),
    },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.job_id, caller);
      const { code, sentence, until } = await explain(engine, params.job_id);
      return ok({ code, sentence, until: utcOrNull(until) });
    },
  }),
  ...(
    [
      ['jobs', '/api/v1/jobs/:job_id/signal'],
      ['guarantees', '/api/jobs/:job_id/signal'],
    ] as const
  ).map(([contract, path]) =>
    route({
      method: 'POST',
      path,
      access: 'operator',
      contract,
      summary:
        'Signal a job. Kept for it if it does not wait for that yet; once for each key, however often it is sent.',
      params: one,
      body: z.strictObject({ correlation_key: z.unknown().optional(), payload: payload.optional() }),
      answers: { 200: signalAnswer(), 202: signalAnswer() },
      async handle({ engine, caller, params, body }): Promise<Answer> {
        const key = typeof body.correlation_key === 'string' ? body.correlation_key : '';
        const outcome = await signalJob(engine, {
          jobId: params.job_id,
          key,
          payload: toJsonText(body.payload, `the payload of signal '${key}'`),
          tenantId: caller.tenantId,
        });
        const data = { job_id: params.job_id, correlation_key: key, outcome };
        return { status: outcome === 'kept' ? 202 : 200, data };
      },
    }),
  ),
];

function signalAnswer() {
  return z.strictObject({
    job_id: z.string(),
    correlation_key: text(500),
    outcome: z.enum(['delivered', 'kept', 'repeated']),
  });
}

/** Whole commits only, so that the next page can begin behind a revision. */
function eventsPage(
  events: readonly LogEvent[],
  limit: number,
): { events: LogEvent[]; next_after_rev: number | null } {
  const shown = events.slice(0, limit);
  const last = shown.at(-1)?.rev ?? 0;
  const rest = events.slice(limit);
  for (const event of rest) {
    if (event.rev !== last) return { events: shown, next_after_rev: last };
    shown.push(event);
  }
  return { events: shown, next_after_rev: null };
}
