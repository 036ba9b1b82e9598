import { attemptOf, type Job } from '../kernel/index.js';
import type { AgedJob, RecordRef } from '../ports/store.js';
import { eachApart } from './each-apart.js';
import type { Engine } from './engine.js';

type Stores = Pick<Engine, 'store'>;
type TaskRef = { readonly tenantId: string; readonly taskId: string };

/** The highest attempt of a run that is over. One that nobody ever claimed has made none. */
export function attemptsOf(job: Job): number {
  return job.spec.attemptBase + (job.startedAt === null ? 0 : attemptOf(job));
}

/** How many attempts a task had made when its latest run was deleted; 0 where nobody noted any. */
export async function notedAttempts(engine: Stores, task: TaskRef): Promise<number> {
  const { record } = await engine.store.record(refOf(task));
  return record === null ? 0 : readAttempts(record);
}

/**
 * Notes how far the attempts of tasks have been counted whose latest run is about to be deleted: earlier runs may stay, and their attempts
 * must not come again. Where that run was the first there are none, and nothing to note. Answers with the jobs that may go: all but those
 * of which nobody can tell.
 */
export async function noteAttempts(
  engine: Pick<Engine, 'store' | 'log'>,
  jobs: readonly AgedJob[],
): Promise<readonly AgedJob[]> {
  const runs = jobs.flatMap(({ jobId, identities }) => {
    const latest = identities.find(({ kind }) => kind === 'latest_run');
    return latest ? [{ jobId, latest }] : [];
  });
  if (runs.length === 0) return jobs;
  const { jobIds } = await engine.store.resolve(runs.map(({ latest }) => latest));
  const failed = await eachApart(
    engine,
    runs.filter(({ jobId }, index) => jobIds[index] === jobId),
    {
      doing: 'noting the attempts of a run',
      nameOf: ({ jobId }) => jobId,
      async work({ jobId }) {
        const { found } = await engine.store.load(jobId);
        if (found !== null && found.job.spec.attemptBase > 0) await note(engine, found.job);
      },
    },
  );
  const stay = new Set(failed.map(({ jobId }) => jobId));
  return jobs.filter(({ jobId }) => !stay.has(jobId));
}

async function note({ store }: Stores, job: Job): Promise<void> {
  const attempts = attemptsOf(job);
  const ref = refOf(job.spec);
  for (;;) {
    const { record } = await store.record(ref);
    if (record !== null && readAttempts(record) >= attempts) return;
    const version = record?.version ?? 0;
    const body = JSON.stringify({ attempts });
    if ((await store.putRecord({ ...ref, version: version + 1, body }, version)).saved) return;
  }
}

function refOf({ tenantId, taskId }: TaskRef): RecordRef {
  return { kind: 'attempts', tenantId, id: taskId };
}

function readAttempts({ body }: { readonly body: string }): number {
  return (JSON.parse(body) as { attempts: number }).attempts;
}
