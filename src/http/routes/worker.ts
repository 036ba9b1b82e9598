import { z } from 'zod';
import { ERRORS } from '../../errors.js';
import { LEAST_LEASE_MS } from '../../kernel/index.js';
import { count, jobId, milliseconds, text } from '../fields.js';
import { ok, route } from '../route.js';
import { claimFor } from '../worker-protocol/claim-for.js';
import * as field from '../worker-protocol/fields.js';
import { expectOwn, nameOf } from '../worker-protocol/own-worker.js';
import { putEffectFor } from '../worker-protocol/put-effect-for.js';
import { putMessageFor } from '../worker-protocol/put-message-for.js';
import { expectPayload } from '../worker-protocol/worker-commands.js';

const ROOT = '/api/v1/worker';
const MOST_CLAIMED = 500;
const MOST_COMMITS = 500;
const MOST_EXCEPT = 1_000;
/** A lease is how long its jobs lie idle after a crash. */
const MOST_LEASE_MS = 86_400_000;

const reply = z.union([
  z.strictObject({ ok: z.literal(true), repeated: z.boolean() }),
  z.strictObject({
    ok: z.literal(false),
    code: z.string(),
    owners: z.array(z.string().nullable()).optional(),
  }),
  z.strictObject({
    error: z.strictObject({ code: z.enum(Object.keys(ERRORS) as [string]), message: z.string() }),
  }),
]);

/** What a worker does that reaches its store through this server. */
export const workerRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'operator',
    summary: 'Whose jobs a worker with this key runs, and what its name must begin with.',
    answers: {
      200: z.strictObject({ tenant_id: z.string(), named_under: z.string(), now: field.now }),
    },
    async handle({ engine, caller }) {
      const { now } = await engine.store.pausedQueues();
      return ok({ tenant_id: caller.tenantId, named_under: nameOf(caller), now });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/beat`,
    access: 'operator',
    summary: "Register a worker's life, or prolong its lease, and tell what it holds.",
    body: z.strictObject({
      worker: field.worker,
      lease_ms: milliseconds.min(LEAST_LEASE_MS).max(MOST_LEASE_MS),
      lanes: field.lanes,
    }),
    answers: {
      200: z.strictObject({
        alive: z.boolean(),
        lease_until: z.int(),
        held: z.array(z.strictObject({ job_id: z.string(), attempt_id: z.string() })),
        now: field.now,
      }),
    },
    async handle({ engine, caller, body, desk }) {
      expectOwn(caller, body.worker);
      desk.hear({ leaseMs: body.lease_ms });
      const beat = { worker: body.worker, leaseMs: body.lease_ms, lanes: body.lanes };
      const { alive, leaseUntil, held, now } = await engine.store.beat(beat);
      return ok({
        alive,
        lease_until: leaseUntil,
        held: held.map(({ jobId: id, attemptId }) => ({ job_id: id, attempt_id: attemptId })),
        now,
      });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/resign`,
    access: 'operator',
    summary: "End a worker's life that stops. One that still holds jobs lives on until its lease ends.",
    body: z.strictObject({ worker: field.worker }),
    answers: { 200: z.strictObject({ resigned: z.boolean(), now: field.now }) },
    async handle({ engine, caller, body }) {
      expectOwn(caller, body.worker);
      const { resigned, now } = await engine.store.resign(body.worker);
      return ok({ resigned, now });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/claim`,
    access: 'operator',
    summary: "Take the tenant's jobs that are due.",
    body: z.strictObject({
      worker: field.worker,
      lanes: field.claimLanes,
      limit: z.int().min(1).max(MOST_CLAIMED),
      has_suspect: z.boolean(),
      except: z.array(jobId).max(MOST_EXCEPT),
    }),
    answers: {
      200: z.strictObject({
        alive: z.boolean(),
        jobs: z.array(field.head.extend({ job: field.job })),
        left_suspects: z.array(jobId),
        rate_free_at: z.int().nullable(),
        now: field.now,
      }),
    },
    async handle(request) {
      const { caller, body } = request;
      expectOwn(caller, body.worker);
      const lanes = body.lanes.map(({ lane, rate, ...limits }) => ({
        lane,
        keyLimit: limits.key_limit,
        tenantLimit: limits.tenant_limit,
        ratePerTenant: limits.rate_per_tenant,
        rate: rate && { name: rate.name, limit: rate.limit, perMs: rate.per_ms },
      }));
      const { worker, limit, except, has_suspect: hasSuspect } = body;
      const claimed = await claimFor(request, { worker, lanes, limit, hasSuspect, except }, caller);
      const { alive, jobs, decided, rateFreeAt, now } = claimed;
      return ok({
        alive,
        jobs: jobs.map((job, index) => ({
          job,
          link: decided?.heads[index]?.link ?? '',
          inbox_rev: decided?.heads[index]?.inboxRev ?? 0,
        })),
        left_suspects: decided?.leftSuspects ?? [],
        rate_free_at: rateFreeAt ?? null,
        now,
      });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/commits`,
    access: 'operator',
    summary: 'Decide on commands anew, and save what comes of them. Each commit gets an answer of its own.',
    body: z.strictObject({ commits: z.array(field.commit).min(1).max(MOST_COMMITS) }),
    answers: { 200: z.strictObject({ replies: z.array(reply), now: field.now }) },
    async handle({ engine, caller, body, desk }) {
      const asked = body.commits.map((commit) => ({
        jobId: commit.job_id,
        rev: commit.rev,
        commandId: commit.command_id,
        link: commit.link,
        commands: commit.commands,
        inboxRev: commit.inbox_rev,
        takesOver: commit.takes_over,
        children: commit.children,
      }));
      const replies = await desk.commit(asked, caller);
      return ok({ replies, now: engine.now() });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/effects`,
    access: 'operator',
    summary:
      "Keep the results of effects' entries, or that their bodies ended without one. The first of each wins.",
    body: z.strictObject({
      results: z
        .array(
          z.strictObject({
            job_id: jobId,
            ...field.entry,
            result: field.jsonText.nullable(),
            awaited_by: field.attemptId
              .nullable()
              .describe('the attempt that waits for it; null if its body went on past its time'),
          }),
        )
        .min(1)
        .max(MOST_COMMITS),
    }),
    answers: { 200: z.strictObject({ first: z.array(z.boolean()), now: field.now }) },
    async handle({ engine, caller, body, desk }) {
      for (const { result } of body.results) {
        if (result !== null) expectPayload(result, 'the result of an effect');
      }
      const first = await Promise.all(
        body.results.map(({ job_id: id, awaited_by: awaitedBy, ...result }) =>
          putEffectFor(desk, { kept: { jobId: id, ...result }, awaitedBy }, caller),
        ),
      );
      return ok({ first, now: engine.now() });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/messages`,
    access: 'operator',
    summary: "Put a signal into a job's inbox, for ever once for each key.",
    body: z.strictObject({ job_id: jobId, key: text(200), payload: field.jsonText }),
    answers: {
      200: z.strictObject({ outcome: z.enum(['kept', 'repeated', 'no job']), now: field.now }),
    },
    async handle({ engine, caller, body }) {
      const { job_id: id, key, payload } = body;
      const { outcome } = await putMessageFor(engine, { jobId: id, key, payload }, caller);
      return ok({ outcome, now: engine.now() });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/wake-ups`,
    access: 'operator',
    summary: 'Wait until one of these lanes may have work. A hint: it may be wrong, and it may get lost.',
    body: z.strictObject({
      worker: field.worker,
      lanes: field.lanes,
      after: z.strictObject({ hub: text(100), seq: count }).nullable(),
      wait_ms: milliseconds.max(25_000),
    }),
    answers: {
      200: z.strictObject({
        lanes: z.array(z.string()),
        hub: z.string(),
        seq: count,
        now: field.now,
      }),
    },
    async handle({ engine, caller, body, desk, signal, closing }) {
      expectOwn(caller, body.worker);
      const lanes = [
        ...body.lanes.filter((lane) => !lane.startsWith('worker:')),
        `worker:${body.worker.incarnation}`,
      ];
      const heard = await desk.wakeUps.next({
        lanes,
        after: body.after,
        waitMs: body.wait_ms,
        gone: [signal, closing],
      });
      return ok({ ...heard, now: engine.now() });
    },
  }),
];
