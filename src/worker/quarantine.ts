import type { Job } from '../kernel/index.js';
import { isSuspect } from '../engine/suspect.js';

/**
 * Lets one suspect in at a time: of those that crash together only one is to blame, and the others are spared by not
 * being there. `left`: those that had to wait.
 */
export function quarantine({ occupied }: { occupied: boolean }) {
  let admitted: string | null = null;
  const left = new Set<string>();
  return {
    /** A store may ask about the same job twice, when its transaction is repeated. */
    admits(job: Job): boolean {
      const { jobId } = job.spec;
      if (!isSuspect(job) || (!occupied && (admitted ?? jobId) === jobId)) {
        if (isSuspect(job)) admitted = jobId;
        return true;
      }
      left.add(jobId);
      return false;
    },
    left: (): readonly string[] => [...left],
  };
}
