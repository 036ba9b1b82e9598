import { aftermathOf } from './aftermath.js';
import { GUARANTEE_IDS, type Guarantee } from './cells.js';
import { InVain } from './eventually.js';
import type { Fault } from './fault.js';
import type { Ground } from './ground.js';
import { CHECKS, type Found } from './guarantees.js';
import { Missed, Trial, type TrialOptions } from './trial.js';

/** What one trial came to. */
export type TrialOutcome = {
  /** What was done; or why the fault did not strike. */
  readonly how: string;
  readonly missed: boolean;
  readonly found: Readonly<Record<Guarantee, Found>>;
};

const NOTHING: Found = { problems: [], counted: {} };

/** Brings a fault about once, and looks at what is left with every check there is. */
export async function runTrial(
  fault: Fault,
  { ground, ...options }: TrialOptions & { readonly ground: Ground },
): Promise<TrialOutcome> {
  const trial = new Trial(ground, options);
  const found = Object.fromEntries(GUARANTEE_IDS.map((id) => [id, NOTHING])) as Record<Guarantee, Found>;
  const add = (id: Guarantee, { problems, counted }: Found): void => {
    found[id] = { problems: [...found[id].problems, ...problems], counted: sum(found[id].counted, counted) };
  };
  try {
    const how = await strike(fault, trial, add);
    const refused = trial.workers.reduce((all, worker) => all + worker.refused().length, 0);
    add('G6', { problems: [], counted: { 'writes refused': refused } });
    for (const after of await aftermathOf(ground.store, trial.jobs)) {
      for (const id of GUARANTEE_IDS) add(id, CHECKS[id](after));
    }
    const damage = await ground.damage();
    if (damage !== null) add('G5', { problems: [damage], counted: {} });
    return { how, missed: false, found };
  } catch (error) {
    if (error instanceof Missed) return { how: error.message, missed: true, found };
    throw error;
  } finally {
    await trial.close();
  }
}

/** A job that has not come to its end by then is not going to: what is owed to it has failed. */
async function strike(
  fault: Fault,
  trial: Trial,
  add: (id: Guarantee, found: Found) => void,
): Promise<string> {
  try {
    const { how, problems = [] } = await fault.strike(trial);
    for (const [id, problem] of problems) add(id, { problems: [problem], counted: {} });
    return how;
  } catch (error) {
    if (!(error instanceof InVain)) throw error;
    add('G1', { problems: [error.message], counted: {} });
    return error.message;
  }
}

export function sum(
  one: Readonly<Record<string, number>>,
  other: Readonly<Record<string, number>>,
): Record<string, number> {
  const all = { ...one };
  for (const [name, count] of Object.entries(other)) all[name] = (all[name] ?? 0) + count;
  return all;
}
