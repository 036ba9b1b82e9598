import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUGS } from '../../src/sim/bugs/index.js';
import { plant, uproot } from '../../src/sim/bugs/plant.js';

/** A compiled copy of the repository with one bug in it, for processes to run. */
export function plantIn(build: string, name: string): { build: string; uproot: () => void } {
  const bug = BUGS.find((one) => one.name === name);
  if (bug === undefined) throw new Error(`'${name}' is none of the planted bugs`);
  const sources = plant(join(build, 'src'), bug);
  const copy = dirname(sources);
  // The tasks import the sources beside them.
  cpSync(join(build, 'test'), join(copy, 'test'), { recursive: true });
  return { build: copy, uproot: () => uproot(sources) };
}
