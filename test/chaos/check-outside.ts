import type { Verdict } from '../../src/sim/verdict.js';
import type { Outside, Sight } from './outside.js';
import type { EffectUse } from './read-jobs.js';

/** What the outside saw, beyond what must hold. */
export type OutsideCounts = {
  readonly entered: number;
  readonly happened: number;
  /** Happened again after it had been declared, by word from outside, not to have happened: a late one. */
  readonly late: number;
};

/** The log's word about every effect, held against the world outside. */
export function checkOutside(
  effects: ReadonlyMap<string, EffectUse>,
  outside: Pick<Outside, 'of'>,
  verdict: Verdict,
): OutsideCounts {
  let [entered, happened, late] = [0, 0, 0];
  for (const [key, use] of effects) {
    const sights = outside.of(key);
    const times = (saw: Sight['saw']) => sights.filter((sight) => sight.saw === saw).length;
    const where = `effect ${key} of ${use.jobId}`;
    verdict.expect(
      times('entered') <= use.intents,
      8,
      () => `${where} was entered ${times('entered')} times, with ${use.intents} intents`,
    );
    verdict.expect(
      use.refused <= times('refused'),
      8,
      () => `${where} was closed, and nobody had refused it`,
    );
    verdict.expect(
      use.denied === 0 || times('denied') > 0,
      8,
      () => `${where} was declared not to have happened, and nobody had said so`,
    );
    const results = new Set(
      sights.flatMap((sight) => (sight.saw === 'happened' ? [JSON.stringify(sight.result)] : [])),
    );
    for (const result of use.results)
      verdict.expect(
        results.has(result),
        7,
        () => `${where} is recorded as ${result}, which is not what happened`,
      );
    verdict.expect(
      times('happened') <= 1 + times('denied'),
      8,
      () => `${where} happened ${times('happened')} times, with ${times('denied')} denials`,
    );
    entered += times('entered');
    happened += times('happened');
    late += Math.max(0, times('happened') - 1);
  }
  return { entered, happened, late };
}
