import { z } from 'zod';
import { runSnapshot as snapshotOf, runState as contract } from '../../contracts/index.js';
import type { Engine } from '../../engine/engine.js';
import { cancelJob } from '../../engine/operator.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { tryStartJobs } from '../../engine/start-jobs.js';
import { changesOf, type Job } from '../../kernel/index.js';
import { defined } from '../../engine/defined.js';
import { jobId, optionalText, page, payload, text } from '../fields.js';
import { listJobs } from '../list-jobs.js';
import { newJobOf } from '../new-job-of.js';
import { created, ok, route } from '../route.js';
import { started } from '../started.js';
import { runSnapshot } from '../views.js';

const ROOT = '/api/v1/runs';
const NAMES = { task: 'workflow_name', inputHash: 'input' };
const one = z.strictObject({ run_id: jobId });
/** Lists leave the steps out: whoever wants them asks for the run. */
const summary = runSnapshot.omit({ steps: true });

export const runRoutes = [
  route({
    method: 'POST',
    path: ROOT,
    access: 'operator',
    contract: 'run-state',
    summary: 'Start a run of a workflow.',
    body: z.strictObject({
      workflow_name: text(200),
      run_id: jobId.optional(),
      input: payload.optional(),
      idempotency_key: text(500).optional(),
    }),
    answers: { 201: runSnapshot, 200: runSnapshot },
    async handle(request) {
      const { body, engine, caller } = request;
      const asked = await newJobOf(request, {
        task: body.workflow_name,
        payload: body.input,
        ...defined({
          jobId: body.run_id,
          idempotencyKey: body.idempotency_key,
        }),
      });
      const [outcome] = await tryStartJobs(engine, [asked], caller);
      const { job, idempotentHit } = started(outcome, asked, NAMES);
      const data = await snapshot(engine, job);
      return idempotentHit ? ok(data) : created(data);
    },
  }),
  route({
    method: 'GET',
    path: ROOT,
    access: 'viewer',
    contract: 'run-state',
    summary: "Summaries of the tenant's runs, newest first.",
    query: z.strictObject({
      status: z.enum(contract.machine.states as [string, ...string[]]).optional(),
      workflow_name: text(200).optional(),
      ...page,
    }),
    answers: { 200: z.strictObject({ runs: z.array(summary), next_cursor: z.string().nullable() }) },
    async handle({ engine, caller: { tenantId }, query }) {
      const { workflow_name: task, limit, cursor } = query;
      const status = query.status as Parameters<typeof contract.statusesOf>[0] | undefined;
      const found = await listJobs(engine, contract, { tenantId, status, task, limit, cursor });
      const runs = found.jobs.map((job) => {
        const { steps: _steps, ...rest } = snapshotOf(job, []);
        return rest;
      });
      return ok({ runs, next_cursor: found.next });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:run_id`,
    access: 'viewer',
    contract: 'run-state',
    summary: 'The snapshot of a run, with its steps and its latest error.',
    params: one,
    answers: { 200: runSnapshot },
    async handle({ engine, caller, params }) {
      return ok(await snapshot(engine, await ownJob(engine, params.run_id, caller)));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:run_id/cancel`,
    access: 'operator',
    contract: 'run-state',
    summary: 'Cancel a run.',
    params: one,
    body: z.strictObject({ reason: optionalText(1_000) }),
    answers: { 200: runSnapshot },
    async handle({ engine, caller, params, body }) {
      const job = await cancelJob(engine, params.run_id, { ...caller, reason: body.reason ?? null });
      return ok(await snapshot(engine, job));
    },
  }),
];

/** The log may have gone on since the job was read: both are of one moment if the job is its fold. */
async function snapshot(engine: Engine, job: Job) {
  const changes = changesOf(await readLog(engine.store, job.spec.jobId));
  return snapshotOf(changes.at(-1)?.after ?? job, changes);
}
