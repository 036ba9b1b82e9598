import { readFileSync, writeFileSync } from 'node:fs';
import type { Plan } from './plan.js';
import { simulate } from './simulation.js';

/** A run that once failed. Its whole plan is kept: what a seed makes may change, this does not. */
export type KeptSeed = {
  readonly plan: Plan;
  /** What it broke, and where that was found. */
  readonly invariant: number;
  readonly problem: string;
  readonly commit: string;
};

export function readKept(path: string): KeptSeed[] {
  return JSON.parse(readFileSync(path, 'utf8')) as KeptSeed[];
}

/** Keeps one for ever, unless it is there already. */
export function keep(path: string, kept: KeptSeed): void {
  const all = readKept(path);
  const text = JSON.stringify(kept.plan);
  if (all.some(({ plan }) => JSON.stringify(plan) === text)) return;
  writeFileSync(path, `${JSON.stringify([...all, kept], null, 2)}\n`);
}

/** Runs all of them; answers with those that fail again. */
export async function runKept(path: string): Promise<KeptSeed[]> {
  const failing: KeptSeed[] = [];
  for (const kept of readKept(path)) {
    if ((await simulate(kept.plan)).breaches.length > 0) failing.push(kept);
  }
  return failing;
}
