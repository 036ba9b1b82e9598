import type { Plan } from './plan.js';
import { simulate } from './simulation.js';

const LISTS = ['faults', 'operations', 'workers'] as const;

/**
 * A shorter plan that still fails, on the same invariant: faults, operations and workers are left out, halves first, for
 * as long as that works. What is left is close to what is needed.
 */
export async function shrink(plan: Plan, { mostRuns = 400 }: { mostRuns?: number } = {}): Promise<Plan> {
  const { breaches } = await simulate(plan);
  const wanted = breaches[0]?.invariant;
  if (wanted === undefined) return plan;
  const budget = { left: mostRuns };
  const fails = async (candidate: Plan): Promise<boolean> => {
    budget.left -= 1;
    return (await simulate(candidate)).breaches[0]?.invariant === wanted;
  };
  let best = plan;
  for (let before: Plan | null = null; before !== best && budget.left > 0;) {
    before = best;
    for (const list of LISTS) best = await without(best, list, fails, budget);
  }
  return best;
}

/** The plan without what it does not need of one of its lists. */
async function without(
  plan: Plan,
  list: (typeof LISTS)[number],
  fails: (candidate: Plan) => Promise<boolean>,
  budget: { readonly left: number },
): Promise<Plan> {
  let best = plan;
  for (let size = Math.max(1, best[list].length >> 1); size >= 1; size >>= 1) {
    for (let at = 0; at < best[list].length && budget.left > 0;) {
      const shorter = { ...best, [list]: best[list].toSpliced(at, size) } as Plan;
      const isWhole = list !== 'workers' || shorter.workers.length > 0;
      if (isWhole && (await fails(shorter))) best = shorter;
      else at += size;
    }
  }
  return best;
}
