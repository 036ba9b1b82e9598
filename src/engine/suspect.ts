import type { Job } from '../kernel/index.js';

/**
 * How many crashes in a row, without a recorded step between them, make a job suspect. One is anybody's: a power cut, a
 * killed process. At one, all jobs of a crashed worker would be resumed one by one; at more, a poison job could use up
 * the recoveries of whatever runs beside it.
 */
const SUSPECT_AFTER = 2;

/** May this job be what takes its process down? A worker runs one such job at a time (decision 18). */
export function isSuspect({ recoveryCount }: Pick<Job, 'recoveryCount'>): boolean {
  return recoveryCount >= SUSPECT_AFTER;
}
