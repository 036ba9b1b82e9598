import { judgeRunStart, type Job } from '../kernel/index.js';
import type { Engine } from './engine.js';
import { OWN_SCOPE, type NewJob } from './new-job.js';
import { attemptsOf, notedAttempts } from './run-attempts.js';
import { jobOfMadeUpKey } from './existing-job.js';
import { tryStartJobs, type StartOutcome } from './start-jobs.js';

/** All runs of a tenant share one scope, which is theirs alone: their keys are unique over all of them. */
const RUN_SCOPE = `${OWN_SCOPE}task-runs`;

/**
 * Starts a run of a task that may have had runs before: at most one of them is live, and its attempts are numbered on from
 * theirs. Two starts at once both look at the latest run; only one of them takes over from it, and the other looks again.
 */
export async function startRun(
  engine: Engine,
  { spec: asked, input, identities, idIsOwn = false }: NewJob,
  { actor }: { readonly actor: string },
): Promise<StartOutcome> {
  const spec = { ...asked, idempotencyScope: RUN_SCOPE };
  const { tenantId, taskId } = spec;
  const latest = { tenantId, kind: 'latest_run', value: taskId } as const;
  const keys = identities.flatMap(({ kind }) =>
    kind === 'key' ? [{ tenantId, kind, value: JSON.stringify([RUN_SCOPE, spec.idempotencyKey]) }] : [],
  );
  for (;;) {
    const { jobIds } = await engine.store.resolve([latest, ...keys]);
    const [latestId = null, keyOwner = null] = jobIds;
    const byKey =
      keyOwner === null
        ? await jobOfMadeUpKey(engine, { spec, identities: keys })
        : await jobOf(engine, keyOwner);
    if (keyOwner !== null && byKey === null) return { kind: 'purged', jobId: keyOwner };
    const before = await jobOf(engine, latestId);
    if (before?.spec.jobId === spec.jobId && idIsOwn) return { kind: 'created', job: before };
    const verdict = judgeRunStart({ taskId }, { byKey, live: before });
    if (verdict.kind !== 'create') return verdict;

    const attemptBase = before ? attemptsOf(before) : await notedAttempts(engine, spec);
    const run: NewJob = {
      spec: { ...spec, attemptBase },
      input,
      identities: [...keys, latestId === null ? latest : { ...latest, replaces: latestId }],
      idIsOwn,
      // Somebody was quicker, and is to be looked at.
      judge: () => ({ kind: 'create' }),
    };
    const [outcome] = await tryStartJobs(engine, [run], { actor });
    const moved = outcome === undefined || outcome.kind === 'purged' || outcome.kind === 'exists';
    if (!moved || (await exists(engine, spec.jobId))) return outcome as StartOutcome;
  }
}

async function jobOf(engine: Engine, jobId: string | null): Promise<Job | null> {
  return jobId === null ? null : ((await engine.store.load(jobId)).found?.job ?? null);
}

async function exists(engine: Engine, jobId: string): Promise<boolean> {
  return (await engine.store.load(jobId)).found !== null;
}
