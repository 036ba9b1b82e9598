import { execFileSync } from 'node:child_process';
import { hunt } from './bugs/hunt.js';
import { BUGS, SAMPLE_BUGS } from './bugs/index.js';
import { staleBugs } from './bugs/plant.js';
import { runKept } from './kept-seeds.js';
import { planOf } from './plan.js';
import { simulate } from './simulation.js';

export type CiParts = {
  /** The program itself, to be run in another process. */
  readonly main: string;
  /** Where kept plans are. */
  readonly kept: string;
  readonly compiled: string;
  readonly print: (line: string) => void;
};

const COMPARED = 20;
const BUG_SEEDS = 300;

/** What must hold besides the seeds themselves: kept plans, traces that repeat, and bugs that are found. */
export async function checkCi({ main, kept, compiled, print }: CiParts): Promise<boolean> {
  const failing = await runKept(kept);
  for (const { plan, problem } of failing) print(`kept plan of seed ${plan.seed} fails again: ${problem}`);
  const here = await hashesOf(1, COMPARED);
  const again = await hashesOf(1, COMPARED);
  const asked = [main, '--hashes', '--seeds', `${COMPARED}`];
  const there = JSON.parse(execFileSync(process.execPath, asked, { encoding: 'utf8' })) as string[];
  const differing = here.flatMap((hash, index) =>
    hash === again[index] && hash === there[index] ? [] : [index + 1],
  );
  for (const seed of differing) print(`invariant 29: seed ${seed} does not repeat itself`);
  const stale = staleBugs(compiled, BUGS);
  for (const problem of stale) print(problem);
  const { isEnough } = await hunt({ compiled, only: SAMPLE_BUGS, seeds: BUG_SEEDS, print });
  return failing.length === 0 && differing.length === 0 && stale.length === 0 && isEnough;
}

export async function hashesOf(from: number, seeds: number): Promise<string[]> {
  const hashes: string[] = [];
  for (let seed = from; seed < from + seeds; seed++) hashes.push((await simulate(planOf(seed))).traceHash);
  return hashes;
}
