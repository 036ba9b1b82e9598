import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { availableParallelism } from 'node:os';
import type { Summary } from '../run-seeds.js';
import type { Bug } from './bug.js';
import { BUGS } from './index.js';
import { plant, uproot } from './plant.js';

export type HuntOptions = {
  /** Where the compiled sources are. */
  readonly compiled: string;
  /** These bugs, by their names; null for all. */
  readonly only: readonly string[] | null;
  readonly seeds: number;
  readonly print: (line: string) => void;
};

/** Of all bugs, so many must be found. */
const SHARE = 0.95;

export type Hunted = {
  readonly bugs: number;
  readonly seeds: number;
  readonly survivors: readonly string[];
  /** So many are found that the checks can be relied on. */
  readonly isEnough: boolean;
};

/** Plants one bug after the other and runs seeds until one fails. */
export async function hunt({ compiled, only, seeds, print }: HuntOptions): Promise<Hunted> {
  const queue = BUGS.filter(({ name }) => only?.includes(name) ?? true);
  if (queue.length < (only?.length ?? 1)) throw new Error(`not all of these are bugs: ${only?.join()}`);
  const total = queue.length;
  const survivors: string[] = [];
  const work = async (): Promise<void> => {
    for (let bug = queue.shift(); bug; bug = queue.shift()) {
      const found = await search(compiled, bug, seeds);
      if (found === null) survivors.push(bug.name);
      print(
        `${found === null ? 'SURVIVED' : `seed ${found.seed}`.padEnd(10)} ${bug.name}${found === null ? '' : ` (${found.problem})`}`,
      );
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  print(`${total - survivors.length} of ${total} bugs found within ${seeds} seeds`);
  for (const name of survivors) print(`survivor: ${name}`);
  return { bugs: total, seeds, survivors, isEnough: (total - survivors.length) / total >= SHARE };
}

type Found = { readonly seed: number; readonly problem: string };

/** The first seed that fails with a bug; null if none does. */
function search(compiled: string, bug: Bug, seeds: number): Promise<Found | null> {
  const planted = plant(compiled, bug);
  const asked = ['--json', '--cores', '1', '--stop-at-failure', '--seeds', `${seeds}`];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(planted, 'sim', 'main.js'), ...asked], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.on('close', () => {
      uproot(planted);
      const problem = errors.trim().split('\n').at(-1) ?? '';
      // A process that a bug takes down altogether has been noticed, too. One that is merely gone has proved nothing.
      if (text === '')
        return resolve(problem === '' ? null : { seed: 0, problem: `the process ended: ${problem}` });
      const [failure] = (JSON.parse(text) as Summary).failures;
      const [breach] = failure?.outcome.breaches ?? [];
      resolve(
        failure && breach
          ? { seed: failure.plan.seed, problem: `${breach.invariant}: ${breach.problem.split('\n')[0]}` }
          : null,
      );
    });
  });
}
