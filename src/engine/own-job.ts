import { PawlError } from '../errors.js';
import type { Job } from '../kernel/index.js';
import type { Engine } from './engine.js';

/** A job, if it is the tenant's. `tenantId` null: whoever's. Another's is not found either. */
export async function ownJob(
  engine: Engine,
  jobId: string,
  { tenantId }: { readonly tenantId: string | null },
): Promise<Job> {
  const { found } = await engine.store.load(jobId);
  if (found && (tenantId === null || found.job.spec.tenantId === tenantId)) return found.job;
  throw new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${jobId}`, details: { jobId } });
}
