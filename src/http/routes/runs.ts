import { z } from 'zod';
import { reconcileJobRun } from '../../client/reconcile-job-run.js';
import { runState as contract, type RunState } from '../../contracts/index.js';
import { cancelJob } from '../../engine/operator.js';
import { ownJob } from '../../engine/own-job.js';
import { readRun } from '../../engine/runs/read-run.js';
import { tryStartJobs } from '../../engine/start-jobs.js';
import { defined } from '../../engine/defined.js';
import { jobId, optionalText, page, payload, text } from '../fields.js';
import { listRuns } from '../list-runs.js';
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
      const { body, engine, caller, runs } = request;
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
      const data = await readRun(engine, await runs.open(), job);
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
    async handle({ engine, caller: { tenantId }, query, runs }) {
      const { workflow_name: name, limit, cursor } = query;
      const status = query.status as RunState | undefined;
      const found = await listRuns(engine, await runs.open(), { tenantId, status, name, limit, cursor });
      return ok({ runs: found.runs, next_cursor: found.next });
    },
  }),
  route({
    method: 'GET',
    path: `${ROOT}/:run_id`,
    access: 'viewer',
    contract: 'run-state',
    summary: 'The snapshot of a run, with its steps, their hosts if it is tracked, and its latest error.',
    params: one,
    answers: { 200: runSnapshot },
    async handle({ engine, caller, params, runs }) {
      const job = await ownJob(engine, params.run_id, caller);
      return ok(await readRun(engine, await runs.open(), job));
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
    async handle({ engine, caller, params, body, runs }) {
      const job = await cancelJob(engine, params.run_id, { ...caller, reason: body.reason ?? null });
      return ok(await readRun(engine, await runs.open(), job));
    },
  }),
  route({
    method: 'POST',
    path: `${ROOT}/:run_id/reconcile`,
    access: 'operator',
    contract: 'run-state',
    summary: 'Record what was found out later about an interrupted run, which stays interrupted.',
    params: one,
    body: z.strictObject({ outcome: text(1_000), reason: text(1_000) }),
    answers: { 200: runSnapshot },
    async handle({ engine, caller, params, body, runs }) {
      const job = await ownJob(engine, params.run_id, caller);
      const finding = { ...body, actor: caller.actor };
      return ok(await reconcileJobRun(engine, { job, runs: await runs.open() }, finding));
    },
  }),
];
