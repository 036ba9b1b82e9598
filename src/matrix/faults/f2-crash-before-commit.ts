import type { Fault } from '../fault.js';
import { killedAt } from './killed-at.js';

/** The tool has run. Its result is nowhere yet, or in the effect store and not in the log. */
const POINTS = [
  'charge happened 1',
  'after putEffect charge 1',
  'mail happened 1',
  'before putEffect charge 1',
  'before commit effect.recorded:charge 1',
  'before putEffect mail 1',
  'after putEffect mail 1',
] as const;

export const crashBeforeCommit: Fault = {
  id: 'F2',
  variants: POINTS.length,
  strike: (trial) => killedAt(trial, trial.pick(POINTS)),
};
