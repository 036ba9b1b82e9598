import type { CrashGround } from './crash-ground.js';
import { CrashLane, type CrashRun } from './crash-lane.js';

/** Where the workers of one job are killed, one after the other. */
export type Plan = readonly string[];

/** Most of a run is waiting for a lease to end. */
const LANES = 4;
const MOST_TRIES = 5;

/** Where a first worker dies, and what its successor does last before things are as if nobody had died. */
const FIRST_DEATHS = [
  { first: 'charge entered 1', last: 'after commit effect.recorded:charge 1' },
  { first: 'charge happened 1', last: 'after commit effect.reconciled:charge 1' },
  { first: 'mail happened 1', last: 'before commit wait.begun:cool-off 1' },
] as const;

/** Every point of a whole job; and of the recoveries from some deaths, every point until all is caught up. */
export async function everyPlan(open: () => Promise<CrashGround>): Promise<Plan[]> {
  const lane = new CrashLane(await open());
  try {
    // What a process does when it starts is among the recoveries.
    await lane.run([]);
    const plans: Plan[] = (await traceOf(lane, [])).map((point) => [point]);
    for (const { first, last } of FIRST_DEATHS) {
      const points = await traceOf(lane, [first]);
      // Up to there all recoveries are the same.
      const from = first === FIRST_DEATHS[0].first ? 0 : points.indexOf('after orphans 1');
      plans.push(...points.slice(from, points.indexOf(last) + 1).map((point) => [first, point]));
    }
    return plans;
  } finally {
    await lane.close();
  }
}

/** One run for each plan, several at a time. A run that was not cut off where it should have been is repeated. */
export async function crashEverywhere(
  open: () => Promise<CrashGround>,
  plans: readonly Plan[],
): Promise<CrashRun[]> {
  const left = plans.map((plan, index) => ({ plan, index, tries: 1 }));
  const runs: CrashRun[] = [];
  const work = async (): Promise<void> => {
    let lane = new CrashLane(await open());
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { plan, index, tries } = next;
      const run = await lane.run(plan).catch((error: unknown) => lane.brokenOff(plan, error));
      if (run.problems.length > 0) {
        await lane.close();
        lane = new CrashLane(await open());
      } else if ((run.missed !== null || run.disturbed) && tries < MOST_TRIES) {
        left.push({ plan, index, tries: tries + 1 });
        continue;
      }
      runs[index] = run;
    }
    await lane.close();
  };
  await Promise.all(Array.from({ length: LANES }, work));
  return runs;
}

/** What is wrong with any of them, or was not looked at in any of their tries, for people. */
export function findings(runs: readonly CrashRun[]): string[] {
  return runs.flatMap(({ kills, problems, missed, disturbed }) =>
    [
      ...problems,
      ...(missed === null ? [] : [`'${missed}' was never reached`]),
      ...(disturbed
        ? ['a worker that nobody killed lost its lease each time: questions and decisions were not checked']
        : []),
    ].map((problem) => `killed ${kills.join(', then ')}: ${problem}`),
  );
}

/** What the last worker came by, in a run that went as it should. */
async function traceOf(lane: CrashLane, plan: Plan): Promise<readonly string[]> {
  for (let tries = 1; ; tries++) {
    const { traces, problems, missed, disturbed } = await lane.run(plan);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    if (missed === null && !disturbed) return traces.at(-1) ?? [];
    if (tries === MOST_TRIES) throw new Error(`the machine is too busy for a run with ${String(plan)}`);
  }
}
