import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../client/system-clock.js';
import type { Guarantee } from './cells.js';
import { eventually, InVain } from './eventually.js';
import { LEASE_MS, POLL_MS } from './trial.js';
import { prepare, type Worker } from './trial-worker.js';
import { JOB_FOUND, JOB_GONE, sightings } from './witness.js';
import type { Program } from './worker-process.js';

/** What was counted of a guarantee, and what is wrong. */
export type LossFound = {
  readonly counted: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};
export type MemoryLoss = Readonly<Record<Extract<Guarantee, 'G1' | 'G5'>, LossFound>>;

const JOB_ID = 'matrix-memory-loss';

/**
 * A process is killed with its store in memory, while a job of it is within a tool. Until there is another process nothing
 * goes on, and the other knows nothing of the job: that it is lost is seen, and not only said.
 */
export async function loseMemory(program: Program): Promise<MemoryLoss> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-matrix-'));
  const witness = join(folder, 'witness');
  const first = prepare(program, join(folder, 'first'), { hold: 'charge' });
  const second = prepare(program, join(folder, 'second'), {});
  const told = { memory: { jobId: JOB_ID, witness }, options: { lease: LEASE_MS, poll: POLL_MS } };
  const seen = (what: string) => sightings(witness).some((one) => one.what === what);
  try {
    await first.worker.process.order({ ...told, starts: true, armed: first.armed });
    await until(first.worker, 'a job in memory is within a tool', () => seen('charge'));
    await first.worker.process.kill();
    const before = sightings(witness).length;
    await rest();
    const down = sightings(witness).length - before;
    await second.worker.process.order({ ...told, starts: false, armed: second.armed });
    await until(
      second.worker,
      'another process has looked for the job',
      () => seen(JOB_FOUND) || seen(JOB_GONE),
    );
    await rest();
    const after = sightings(witness).length - before - down - 1;
    return {
      G1: {
        counted: { 'bodies entered while its process was gone': down },
        problems: down === 0 ? [] : [`${down} bodies were entered while nobody was there`],
      },
      G5: {
        counted: { 'jobs lost with their process': seen(JOB_GONE) ? 1 : 0 },
        problems: [
          ...(seen(JOB_GONE) ? [] : ['a store in memory still had a job after its process was killed']),
          ...(after === 0 ? [] : [`${after} bodies of a job that was lost were entered`]),
        ],
      },
    };
  } finally {
    await Promise.all([first.worker.process.kill(), second.worker.process.kill()]);
    rmSync(folder, { recursive: true });
  }
}

/** Not any longer, once the process is gone that should bring it about. */
async function until({ process }: Worker, what: string, isSo: () => boolean): Promise<void> {
  await eventually(() => {
    if (isSo()) return true;
    if (process.isGone) throw new InVain(what);
    return null;
  }, what);
}

/** For longer than a worker takes to take over what another has left. */
function rest(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(2 * LEASE_MS, resolve);
  });
}
