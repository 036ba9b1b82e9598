import { PawlError } from '../errors.js';
import { decide, judgeJobStart, laneOf, NO_STEPS, type Job } from '../kernel/index.js';
import type { CommitItem, CommitReply } from '../ports/store.js';
import type { Engine } from './engine.js';
import type { NewJob } from './new-job.js';
import { prepareCommit, type Extras } from './prepare-commit.js';
import { rejectionError } from './rejection-error.js';
import { patience, send } from './send.js';

export type Started = { readonly job: Job; readonly idempotentHit: boolean };

/**
 * Starts jobs, all in one commit to the store. Each is created, or found to exist already by its key; one that conflicts
 * with an existing job throws, after the others have been saved.
 */
export async function startJobs(
  engine: Engine,
  jobs: readonly NewJob[],
  { tx }: { tx?: unknown } = {},
): Promise<Started[]> {
  await engine.subscriptions.refreshIfStale();
  const items = jobs.map((job) => createItem(engine, job, 'client'));
  const replies =
    tx === undefined
      ? await send(engine, items, { goOn: patience(engine) })
      : (await engine.store.commitWithin(tx, items)).replies;

  const started: Started[] = [];
  const lanes = new Set<string>();
  for (const [index, item] of items.entries()) {
    const reply = replies[index];
    const asked = jobs[index];
    if (asked === undefined || reply === undefined || item.job === null) continue;
    if (reply.ok) {
      started.push({ job: item.job, idempotentHit: false });
      engine.announceMail(item.outbox);
      if (item.job.status === 'queued') lanes.add(laneOf(item.job.spec));
      else engine.announce(item.job);
    } else {
      started.push({ job: await existing(engine, asked, reply), idempotentHit: true });
    }
  }
  if (lanes.size > 0) {
    engine.bells.claims.ring();
    engine.store.wake([...lanes]);
  }
  return started;
}

/** The commit that creates a job. */
export function createItem(
  engine: Engine,
  { spec, input, identities }: NewJob,
  actor: string,
  extras: Extras = {},
): CommitItem {
  const create = { type: 'create', now: engine.now(), actor, spec, input } as const;
  const decision = decide(null, create, NO_STEPS);
  if (!decision.ok) throw rejectionError(decision, `start '${spec.task}'`);
  const { jobId } = spec;
  return prepareCommit(
    null,
    { jobId, commandId: engine.nextCommandId(), events: decision.events },
    {
      identities,
      outbox: engine.subscriptions.lettersFor(spec, { rev: 1, events: decision.events }),
      ...extras,
    },
  );
}

/** The job that the start hit, if it asks for the same. */
async function existing(engine: Engine, { spec }: NewJob, reply: CommitReply & { ok: false }): Promise<Job> {
  if (reply.code !== 'IDENTITY_TAKEN') {
    throw rejectionError(
      { ok: false, code: 'JOB_EXISTS', details: { jobId: spec.jobId } },
      `start '${spec.task}'`,
    );
  }
  const owner = reply.owners.find((jobId) => jobId !== null) ?? '';
  const { found } = await engine.store.load(owner);
  if (found === null) {
    throw new PawlError('DUPLICATE', {
      detail: `the idempotency key '${spec.idempotencyKey}' belonged to job ${owner}, which has been purged`,
      details: { jobId: owner, conflictFields: [] },
    });
  }
  const verdict = judgeJobStart({ task: spec.task, inputHash: spec.inputHash }, { byKey: found.job });
  if (verdict.kind !== 'duplicate') return found.job;
  throw new PawlError('DUPLICATE', {
    detail: `the idempotency key '${spec.idempotencyKey}' belongs to job ${owner}, which differs in ${verdict.conflictFields.join(', ')}`,
    details: { jobId: owner, conflictFields: verdict.conflictFields },
  });
}
