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
  outside: Pick<Outside, 'of' | 'keys'>,
  verdict: Verdict,
): OutsideCounts {
  let [entered, happened, late] = [0, 0, 0];
  for (const key of outside.keys())
    verdict.expect(effects.has(key), 8, () => `effect ${key} was entered, and no log has an intent of it`);
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
      use.denied <= times('denied'),
      8,
      () =>
        `${where} was declared ${use.denied} times not to have happened, and that was said ${times('denied')} times`,
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
      times('happened') <= 1 + use.denied,
      8,
      () => `${where} happened ${times('happened')} times, and was declared ${use.denied} times not to have`,
    );
    entered += times('entered');
    happened += times('happened');
    late += Math.max(0, times('happened') - 1);
  }
  return { entered, happened, late };
}
