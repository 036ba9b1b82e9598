import type { StepIndex } from './step-log.js';

/**
 * Whether a key has been waited for and that wait has ended, in whatever way: no other can begin for it, so nobody will ever ask for what
 * comes now. Of what came before a checkpoint only names are known, and those refuse a wait as well.
 */
export function isWaitOver(key: string, steps: StepIndex): boolean {
  const known = steps.waitFor(key);
  return known === undefined ? steps.isBeforeCheckpoint(key) : known.outcome !== null;
}
