import {
  isMadeId,
  judgeJobStart,
  must,
  type ConflictField,
  type IdempotencyVerdict,
  type Job,
  type JobSpec,
} from '../kernel/index.js';
import type { CommitReply, CommitWithin } from '../ports/store.js';
import type { Engine } from './engine.js';
import type { NewJob } from './new-job.js';

/** What became of one start. Only `created` has changed anything. */
export type StartOutcome =
  | { readonly kind: 'created' | 'hit'; readonly job: Job }
  | { readonly kind: 'duplicate'; readonly job: Job; readonly conflictFields: readonly ConflictField[] }
  /** Another run of the same task is still live. */
  | { readonly kind: 'active'; readonly job: Job }
  | { readonly kind: 'exists'; readonly jobId: string }
  /** The key's job is gone, and nobody can tell whether it asked for the same. */
  | { readonly kind: 'purged'; readonly jobId: string };

type Names = { readonly byKey: Job | null; readonly byTaskId: Job | null };

/** What a start that was not saved has met. */
export async function existing(
  engine: Engine,
  asked: NewJob,
  { reply, owners: known }: { reply: CommitReply & { ok: false }; owners: CommitWithin['owners'] },
): Promise<StartOutcome> {
  const { spec, identities, idIsOwn = false } = asked;
  const load = async (jobId: string): Promise<Job | null> => {
    const found = known.find(({ job }) => job.spec.jobId === jobId) ?? (await engine.store.load(jobId)).found;
    return found && found.job;
  };
  if (reply.code !== 'IDENTITY_TAKEN') {
    const job = idIsOwn ? await load(spec.jobId) : null;
    return job ? { kind: 'created', job } : { kind: 'exists', jobId: spec.jobId };
  }
  const names: { byKey: Job | null; byTaskId: Job | null } = { byKey: null, byTaskId: null };
  for (const [index, { kind }] of identities.entries()) {
    const owner = reply.owners[index] ?? null;
    if (owner === null) continue;
    const job = await load(owner);
    if (owner === spec.jobId && idIsOwn)
      return { kind: 'created', job: must(job, `job ${owner} owns an identity`) };
    if (job === null) return { kind: 'purged', jobId: owner };
    if (kind === 'key') names.byKey = job;
    if (kind === 'task_id') names.byTaskId = job;
  }
  const verdict = judged(asked, names);
  // Nothing was in the way but something that is of no concern here.
  return verdict.kind === 'create' ? { kind: 'exists', jobId: spec.jobId } : verdict;
}

function judged({ spec, judge }: NewJob, { byKey, byTaskId }: Names): IdempotencyVerdict {
  if (judge) return judge({ byKey, byTaskId });
  return judgeJobStart({ task: spec.task, inputHash: spec.inputHash }, { byKey: byKey ?? byTaskId });
}

/** Whether a start names its job in a way that may have been made up here. */
export function mayBeMadeUp({ spec, identities }: NewJob): boolean {
  return identities.length > 0 && (isMadeId(spec.idempotencyKey) || isMadeId(spec.taskId));
}

/**
 * A key or a task's id that nobody had given is the id of its job, and has no row of its own. Whoever has read it and sends it back
 * means that job. These are the starts that do, and what they come to.
 */
export async function knownByMadeUpNames(
  engine: Pick<Engine, 'store'>,
  jobs: readonly NewJob[],
): Promise<ReadonlyMap<NewJob, StartOutcome>> {
  const known = new Map<NewJob, StartOutcome>();
  for (const job of jobs.filter(mayBeMadeUp)) {
    const byKey = await jobOfMadeUpKey(engine, job);
    const byTaskId = await jobOfMadeUpTaskId(engine, job);
    if (byKey === null && byTaskId === null) continue;
    const verdict = judged(job, { byKey, byTaskId });
    if (verdict.kind !== 'create') known.set(job, verdict);
  }
  return known;
}

type Named = Pick<NewJob, 'spec' | 'identities'>;

/** The job whose id the given key is, if it was made up for that. */
export async function jobOfMadeUpKey(
  engine: Pick<Engine, 'store'>,
  { spec, identities }: Named,
): Promise<Job | null> {
  const { idempotencyKey: key, idempotencyScope: scope } = spec;
  if (!isMadeId(key) || identities.every(({ kind }) => kind !== 'key')) return null;
  const found = await ownJobOf(engine, spec, key);
  return found?.spec.idempotencyKey === key && found.spec.idempotencyScope === scope ? found : null;
}

async function jobOfMadeUpTaskId(
  engine: Pick<Engine, 'store'>,
  { spec, identities }: Named,
): Promise<Job | null> {
  if (!isMadeId(spec.taskId) || identities.every(({ kind }) => kind !== 'task_id')) return null;
  const found = await ownJobOf(engine, spec, spec.taskId);
  return found?.spec.taskId === spec.taskId ? found : null;
}

/** Somebody else's is not there for whoever asks. */
async function ownJobOf(
  { store }: Pick<Engine, 'store'>,
  { tenantId, jobId }: JobSpec,
  named: string,
): Promise<Job | null> {
  if (named === jobId) return null;
  const { found } = await store.load(named);
  return found?.job.spec.tenantId === tenantId ? found.job : null;
}
