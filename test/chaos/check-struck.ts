import type { Verdict } from '../../src/sim/verdict.js';
import type { Harm } from './monkey.js';

/** What must be met, and for how much of what it comes with: by the runs of docs/reliability.md, rounded down. */
const PER_START: Readonly<Record<string, number>> = {
  'command close-effect': 0.03,
  'command doubt-effect': 0.03,
  'command reconcile-effect': 0.03,
  'command resolve-effect': 0.008,
  'command complete-wait': 0.15,
  'command expire-waits': 0.2,
  'command start-child': 0.2,
  'event attempt.failed': 0.2,
  'ending cancelled': 0.05,
  'ending exhausted': 0.08,
};
const PER_KILL: Readonly<Record<string, number>> = { 'command interrupt': 0.5 };
const FULL_PER_START = 0.03;

/** If so many are to be expected, chance alone leaves none in fewer than one run of a hundred thousand. */
const CERTAIN = 12;

export type Struck = {
  readonly harm: Pick<Harm, 'kills' | 'freezes' | 'restarts'>;
  /** What was done, by kind. */
  readonly done: Readonly<Record<string, number>>;
  readonly starts: number;
  /** What the logs hold. */
  readonly hits: Readonly<Record<string, number>>;
  /** In how many moments a key was seen used to the full. */
  readonly full: number;
};

/**
 * A run that nothing befell proves nothing: all that was planned was done, and what has become of it is in the logs. A
 * short run is held only to what it cannot have missed by chance.
 */
export function checkStruck({ harm, done, starts, hits, full }: Struck, verdict: Verdict): void {
  const times = (what: RegExp) =>
    Object.entries(done).reduce((sum, [name, count]) => (what.test(name) ? sum + count : sum), 0);
  for (const [name, planned, made] of [
    ['kills', harm.kills, times(/^SIGKILL/)],
    ['freezes', harm.freezes, times(/^SIGSTOP/)],
    ['restarts of the database', harm.restarts, times(/of the database$/)],
  ] as const)
    verdict.expect(made === planned, 28, () => `${made} ${name} were made, not ${planned}`);

  const expectMet = (name: string, { met, expected }: { met: number; expected: number }): void =>
    verdict.expect(met > 0 || expected < CERTAIN, 28, () => `${name} was never met`);
  for (const [name, share] of Object.entries(PER_START))
    expectMet(name, { met: hits[name] ?? 0, expected: starts * share });
  for (const [name, share] of Object.entries(PER_KILL))
    expectMet(name, { met: hits[name] ?? 0, expected: harm.kills * share });
  expectMet('a key used to the full', { met: full, expected: starts * FULL_PER_START });
}
