import type { RunStates } from '../client/run-states.js';
import { runState as contract, type RunState, type RunSummary } from '../contracts/index.js';
import type { Engine } from '../engine/engine.js';
import { summarizeRun } from '../engine/runs/read-run.js';
import type { Status } from '../kernel/index.js';
import { listShown } from './list-jobs.js';

type Query = {
  readonly tenantId: string;
  readonly name?: string | undefined;
  readonly status?: RunState | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};
type Page = { readonly runs: readonly RunSummary[]; readonly next: string | null };

/** How a cursor begins that stands among the runs which are tracked under a name. A store's own are numbers. */
const TRACKED = 'tracked:';
const PAGE = 200;
/** So many of them are looked at for one page, which may then be short: others' runs are among them. */
const MOST_LOOKED_AT = 1_000;

/**
 * A page of a tenant's runs, newest first, each as it reads when it is asked for by its id. By a name, those come first that are
 * tracked under it and whose task is called otherwise.
 */
export async function listRuns(engine: Engine, runs: RunStates | null, query: Query): Promise<Page> {
  const { name, cursor = TRACKED, limit } = query;
  if (runs === null || name === undefined || !cursor.startsWith(TRACKED)) return ofJobs(engine, runs, query);
  const before = cursor.slice(TRACKED.length);
  const found = await ofTracked(engine, runs, { ...query, name, before });
  if (found.next !== null) return found;
  const rest = { ...query, limit: limit - found.runs.length, cursor: undefined };
  const behind = await ofJobs(engine, runs, rest);
  return { runs: [...found.runs, ...behind.runs], next: behind.next };
}

/** Those whose jobs have the name, or any if there is none. */
async function ofJobs(engine: Engine, runs: RunStates | null, query: Query): Promise<Page> {
  const { tenantId, name, status, limit, cursor = null } = query;
  const asked = {
    tenantId,
    statuses: status === undefined ? null : statusesOf(status, runs),
    task: name ?? null,
    limit,
    cursor,
    mayNotFit: status !== undefined || (name !== undefined && runs !== null),
  };
  const { shown, next } = await listShown(engine, asked, async (job) => {
    const run = await summarizeRun(engine, runs, job);
    return fits(run, query) ? run : null;
  });
  return { runs: shown, next };
}

/** Whoever archives a run that is tracked cancels its job first. */
function statusesOf(status: RunState, runs: RunStates | null): readonly Status[] {
  const statuses = contract.statusesOf(status);
  return status === 'interrupted' && runs !== null ? [...statuses, 'cancelled'] : statuses;
}

/** Whose a run is only its job tells: one without a job is nobody's. */
async function ofTracked(
  engine: Engine,
  runs: RunStates,
  query: Query & { readonly name: string; readonly before: string },
): Promise<Page> {
  const { tenantId, name, limit } = query;
  const found: RunSummary[] = [];
  let { before } = query;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
    const page = await runs.list({ workflow_name: name, limit: PAGE, ...(before === '' ? {} : { before }) });
    for (const { run_id: runId } of page) {
      if (found.length === limit) return { runs: found, next: TRACKED + before };
      before = runId;
      const job = (await engine.store.load(runId)).found?.job;
      if (job?.spec.tenantId !== tenantId || job.spec.task === name) continue;
      const run = await summarizeRun(engine, runs, job);
      if (fits(run, query)) found.push(run);
    }
    if (page.length < PAGE) return { runs: found, next: found.length === limit ? TRACKED + before : null };
  }
  return { runs: found, next: TRACKED + before };
}

function fits(run: RunSummary, { name, status }: Query): boolean {
  return (
    (name === undefined || run.workflow_name === name) && (status === undefined || run.status === status)
  );
}
