import { z } from 'zod';
import { guaranteeEvents, guarantees as contract, guaranteeView as viewOf } from '../../contracts/index.js';
import { cancelJob } from '../../engine/operator.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { changesOf } from '../../kernel/index.js';
import { jobId, optionalText, page, text } from '../fields.js';
import { listJobs } from '../list-jobs.js';
import { ok, route } from '../route.js';
import { guaranteeView } from '../views.js';

const ROOT = '/api/jobs';
const one = z.strictObject({ job_id: jobId });

export const guaranteeRoutes = [
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    contract: 'guarantees',
    summary: "List the tenant's jobs in the words of the guarantees, newest first.",
    query: z.strictObject({
      status: z.enum(contract.machine.states as [string, ...string[]]).optional(),
      job_type: text(200).optional(),
      ...page,
    }),
    answers: { 200: z.strictObject({ jobs: z.array(guaranteeView), next_cursor: z.string().nullable() }) },
    async handle({ engine, caller: { tenantId }, query }) {
      const { job_type: task, limit, cursor } = query;
      const status = query.status as Parameters<typeof contract.statusesOf>[0] | undefined;
      const found = await listJobs(engine, contract, { tenantId, status, task, limit, cursor });
      return ok({ jobs: found.jobs.map(viewOf), next_cursor: found.next });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:job_id`,
    access: 'viewer',
    contract: 'guarantees',
    summary: 'A job: its lease, and what it waits for.',
    params: one,
    answers: { 200: guaranteeView },
    async handle({ engine, caller, params }) {
      return ok(viewOf(await ownJob(engine, params.job_id, caller)));
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:job_id/events`,
    access: 'viewer',
    contract: 'guarantees',
    summary: 'Waits and tool invocations of a job, oldest first.',
    params: one,
    answers: { 200: z.strictObject({ events: z.array(z.record(z.string(), z.unknown())) }) },
    async handle({ engine, caller, params }) {
      await ownJob(engine, params.job_id, caller);
      return ok({ events: guaranteeEvents(changesOf(await readLog(engine.store, params.job_id))) });
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:job_id/cancel`,
    access: 'operator',
    contract: 'guarantees',
    summary: 'Cancel a job.',
    params: one,
    body: z.strictObject({ reason: optionalText(1_000) }),
    answers: { 200: guaranteeView },
    async handle({ engine, caller, params, body }) {
      const job = await cancelJob(engine, params.job_id, { ...caller, reason: body.reason ?? null });
      return ok(viewOf(job));
    },
  }),
];
