import { z } from 'zod';
import { placeOf } from '../../engine/continuing.js';
import { ownJob } from '../../engine/own-job.js';
import { PawlError } from '../../errors.js';
import { count, jobId, wholeNumber } from '../fields.js';
import { ok, route } from '../route.js';
import * as field from '../worker-protocol/fields.js';
import { isOwn } from '../worker-protocol/own-worker.js';
import { readPage } from '../worker-protocol/read-page.js';

const ROOT = '/api/v1/worker';
const one = z.strictObject({ job_id: jobId });
const MOST_ASKED = 1_000;

/** What a remote worker reads: its tenant's jobs as the kernel has them, and their logs. Others' are not found. */
export const workerReadRoutes = [
  route({
    method: 'GET',
    path: `${ROOT}/jobs/:job_id`,
    access: 'operator',
    summary: 'A job, with what a commit on it needs to know.',
    params: one,
    answers: { 200: field.head.extend({ job: field.job, now: field.now }) },
    async handle({ engine, caller, params }) {
      const { found, now } = await engine.store.load(params.job_id);
      if (found === null || found.job.spec.tenantId !== caller.tenantId) {
        throw new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${params.job_id}` });
      }
      const { job, link, inboxRev } = found;
      return ok({ job, link, inbox_rev: inboxRev, now });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/jobs/:job_id/log`,
    access: 'operator',
    summary: 'The commits of a job, from a revision on, as many as one answer takes.',
    params: one,
    query: z.strictObject({ from_rev: wholeNumber, limit: wholeNumber }),
    answers: {
      200: z.strictObject({
        rows: z.array(
          z.strictObject({ rev: z.int(), command_id: z.string(), body: z.string(), link: z.string() }),
        ),
        more: z.boolean().describe('there may be more rows than fitted into this answer'),
        now: field.now,
      }),
    },
    async handle({ engine, caller, params, query }) {
      await ownJob(engine, params.job_id, caller);
      const { rows, more } = await readPage(engine.store, params.job_id, {
        fromRev: query.from_rev,
        limit: query.limit,
      });
      return ok({
        rows: rows.map(({ rev, commandId, body, link }) => ({ rev, command_id: commandId, body, link })),
        more,
        now: engine.now(),
      });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/jobs/:job_id/effects`,
    access: 'operator',
    summary: 'What is known of the effects of a job.',
    params: one,
    answers: {
      200: z.strictObject({
        results: z.array(z.strictObject({ ...field.entry, result: z.string().nullable() })),
        now: field.now,
      }),
    },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.job_id, caller);
      const { results, now } = await engine.store.effects(params.job_id);
      return ok({
        results: results.map(({ step, occurrence, entry, result }) => ({ step, occurrence, entry, result })),
        now,
      });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/jobs/:job_id/inbox`,
    access: 'operator',
    summary: 'The messages of a job that no commit has consumed, oldest first.',
    params: one,
    answers: {
      200: z.strictObject({
        messages: z.array(z.strictObject({ key: z.string(), payload: z.string(), received_at: z.int() })),
        inbox_rev: count,
        now: field.now,
      }),
    },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.job_id, caller);
      const { messages, inboxRev, now } = await engine.store.inbox(params.job_id);
      return ok({
        messages: messages.map(({ key, payload, receivedAt }) => ({ key, payload, received_at: receivedAt })),
        inbox_rev: inboxRev,
        now,
      });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/jobs/:job_id/successor`,
    access: 'operator',
    summary: 'The job that has taken the place of one that has ended.',
    params: one,
    answers: { 200: z.strictObject({ job_id: z.string().nullable(), now: field.now }) },
    async handle({ engine, caller, params }) {
      const { spec } = await ownJob(engine, params.job_id, caller);
      const { jobIds, now } = await engine.store.resolve([placeOf(spec)]);
      return ok({ job_id: jobIds[0] ?? null, now });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/workers`,
    access: 'operator',
    summary: 'Whether these lives of workers go on; without any, those of this key that do.',
    body: z.strictObject({ incarnations: z.array(z.string().min(1).max(200)).max(MOST_ASKED).nullable() }),
    answers: {
      200: z.strictObject({
        workers: z.array(z.strictObject({ worker: field.worker, lease_until: z.int(), dead: z.boolean() })),
        now: field.now,
      }),
    },
    async handle({ engine, caller, body }) {
      const { incarnations } = body;
      const { workers, now } = await engine.store.workers({ incarnations });
      // Whoever knows the name of a life knows of it from a job of its own.
      const shown = workers.filter(({ worker }) => incarnations !== null || isOwn(caller, worker));
      return ok({
        workers: shown.map(({ worker, leaseUntil, dead }) => ({ worker, lease_until: leaseUntil, dead })),
        now,
      });
    },
  }),
];
