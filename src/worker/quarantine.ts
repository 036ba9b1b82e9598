import type { Job } from '../kernel/index.js';

/**
 * How many crashes in a row, without a recorded step between them, make a job suspect. One is anybody's: a power cut, a
 * killed process. At one, all jobs of a crashed worker would be resumed one by one; at more, a poison job could use up
 * the recoveries of whatever runs beside it.
 */
const SUSPECT_AFTER = 2;

/** May this job be what takes its process down? */
export function isSuspect({ recoveryCount }: Pick<Job, 'recoveryCount'>): boolean {
  return recoveryCount >= SUSPECT_AFTER;
}

/**
 * Lets one suspect in at a time: of those that crash together only one is to blame, and the others are spared by not
 * being there. `left` tells whether one had to wait.
 */
export function quarantine({ occupied }: { occupied: boolean }) {
  let admitted: string | null = null;
  let left = false;
  return {
    /** A store may ask about the same job twice, when its transaction is repeated. */
    admits(job: Job): boolean {
      const { jobId } = job.spec;
      if (!isSuspect(job) || (!occupied && (admitted ?? jobId) === jobId)) {
        if (isSuspect(job)) admitted = jobId;
        return true;
      }
      left = true;
      return false;
    },
    left: () => left,
  };
}
