import type { Fault } from '../fault.js';
import { killedAt } from './killed-at.js';

/** What the tool did is committed, and nobody was told; then further on, to the end of a job. */
const POINTS = [
  'after commit effect.recorded:charge 1',
  'before commit effect.intended:mail 1',
  'after commit effect.recorded:mail 1',
  'after commit wait.begun:cool-off 1',
  'after commit wait.begun:late 1',
  'after commit job.succeeded 1',
] as const;

export const crashAfterCommit: Fault = {
  id: 'F3',
  variants: POINTS.length,
  strike: (trial) => killedAt(trial, trial.pick(POINTS)),
};
