import { noteIfLate } from '../../engine/late-result.js';
import type { Job } from '../../kernel/index.js';
import type { EffectResult } from '../../ports/store.js';
import type { Caller } from '../route.js';
import type { Desk } from './decide-again.js';

export type PutEffect = {
  readonly kept: EffectResult;
  /** The attempt that waits for the result; null if nobody does any more. */
  readonly awaitedBy: string | null;
};

/** Keeps what an effect of a job of the caller's tenant came to, and makes it known if it comes too late. True: the first. */
export async function putEffectFor(
  desk: Desk,
  { kept, awaitedBy }: PutEffect,
  { tenantId }: Caller,
): Promise<boolean> {
  const { engine, heads } = desk;
  const { jobId } = kept;
  if ((heads.tenantOf(jobId) ?? (await readTenant(desk, jobId))) !== tenantId) return false;
  const { first } = await engine.store.putEffect(kept, awaitedBy);
  if (kept.result === null) return first;
  // Read after the result was kept: from then on nobody can declare that it did not happen. If the attempt that waits for it still
  // has the job, nobody has. Looked at even if it was kept before: whoever did so may not have come to look.
  const { found } = await engine.store.load(jobId);
  if (found !== null && !isHeldBy(found.job, awaitedBy)) await noteIfLate(engine, kept, found.job.spec);
  return first;
}

function isHeldBy({ worker, attemptId }: Job, wanted: string | null): boolean {
  return worker !== null && attemptId === wanted;
}

async function readTenant({ engine }: Desk, jobId: string): Promise<string | undefined> {
  const { found } = await engine.store.load(jobId);
  return found?.job.spec.tenantId;
}
