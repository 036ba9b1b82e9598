import type { Fault } from '../fault.js';
import { fateOf, thaw } from './thaw.js';

const FIRST = 'before putEffect charge 1';
const SECOND = 'before commit effect.reconciled:charge 1';

/**
 * Three workers have the result of one tool: the first ran it, the second was told by `reconcile` that it had happened,
 * the third takes over from both. The first two go on when the third has committed, or while it is about to.
 */
export const ledgerConflict: Fault = {
  id: 'F8',
  variants: 2,
  async strike(trial) {
    const first = await trial.work({ at: FIRST, by: 'SIGSTOP' });
    await trial.order();
    await trial.struck(first, FIRST);
    const second = await trial.work({ at: SECOND, by: 'SIGSTOP' });
    await trial.struck(second, SECOND);
    const third = await trial.work();
    const races = trial.pick([false, true]);
    const moment = races ? 'charge asked after' : 'after commit effect.reconciled:charge';
    await trial.until('a third worker has the result, too', () =>
      third.trace().some((line) => line.startsWith(moment)),
    );
    await thaw(trial, { zombie: first, at: FIRST }, { zombie: second, at: SECOND });
    await trial.finish();
    const fates = [fateOf(first, FIRST), fateOf(second, SECOND)];
    const words = fates.map((fate, n) => `${['first', 'second'][n]}: ${fate.words}`).join('; ');
    return {
      how: `three had the result${races ? ' at once' : ''}; ${words}`,
      // Raced, the second may be the one whose commit counts.
      problems: races ? [] : fates.flatMap(({ problems }) => problems),
    };
  },
};
