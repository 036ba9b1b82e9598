import type { Fault } from '../fault.js';
import { killedAt } from './killed-at.js';

/** From the claim to the door of the tool. Past the intent only `reconcile`, or an operator, can let it in again. */
const POINTS = [
  'quote begun 1',
  'before commit effect.intended:charge 1',
  'after commit effect.intended:charge 1',
  'charge entered 1',
  'after claim of order 1',
  'before commit effect.intended:mail 1',
  'after commit effect.intended:mail 1',
] as const;

export const crashBeforeTool: Fault = {
  id: 'F1',
  variants: POINTS.length,
  strike: (trial) => killedAt(trial, trial.pick(POINTS)),
};
