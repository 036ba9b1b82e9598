import { CELLS, FAULT_IDS, GUARANTEE_IDS, type FaultId, type Guarantee, type Said } from './cells.js';
import type { Place } from './fault.js';
import { FAULT_SCRIPTS } from './faults/index.js';
import { openGround } from './ground.js';
import type { Cell, Row } from './outcome.js';
import { runTrial, sum, type TrialOutcome } from './run-trial.js';
import type { Scratch } from './scratch.js';
import type { Program } from './worker-process.js';

export type MatrixOptions = {
  readonly place: Place;
  readonly scratch: Scratch;
  /** Of each fault; those that come in several kinds take turns. */
  readonly trials: number;
  /** These faults; null: all. */
  readonly only: readonly FaultId[] | null;
  /** What processes are started with. */
  readonly program: Program;
  /** How long a job may take to its end before it counts as stuck. */
  readonly patienceMs: number;
  /** Told after each, how many there were. */
  readonly onTrial: (done: number) => void;
};

/** Most of a trial is waiting for a lease to end. */
const LANES = 4;
/** How often a fault is tried that does not strike, before nothing is said of it. */
export const MOST_MISSES = 3;

/** Brings every fault about, again and again, and says of every cell what was found. */
export async function runMatrix(options: MatrixOptions): Promise<Row[]> {
  const { place, trials, only, onTrial } = options;
  const wanted = FAULT_IDS.filter((id) => only?.includes(id) ?? true);
  const possible = wanted.filter((id) => reasonAgainst(id, place) === null);
  const outcomes = new Map<FaultId, TrialOutcome[]>(wanted.map((id) => [id, []]));
  const plan = possible.flatMap((id) => Array.from({ length: trials }, (_, number) => ({ id, number })));
  let done = 0;
  const work = async (queue: typeof plan): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      outcomes.get(next.id)?.push(await tryFault(next, options));
      done += 1;
      onTrial(done);
    }
  };
  const together = plan.filter(({ id }) => !FAULT_SCRIPTS[id].alone);
  const lane = (): Promise<void> =>
    work(together).catch((error: unknown) => {
      // Nobody begins anything more, and what runs comes to its end: it has processes and data to put away.
      together.length = 0;
      throw error;
    });
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
  await work(plan.filter(({ id }) => FAULT_SCRIPTS[id].alone));
  return wanted.map((id) => rowOf(id, outcomes.get(id) ?? [], place));
}

async function tryFault(
  { id, number }: { id: FaultId; number: number },
  { scratch, place, program, patienceMs }: MatrixOptions,
): Promise<TrialOutcome> {
  for (let tries = 1; ; tries++) {
    const ground = await openGround(scratch, place.control);
    try {
      const outcome = await runTrial(FAULT_SCRIPTS[id], { ground, number, program, patienceMs });
      if (!outcome.missed || tries === MOST_MISSES) return outcome;
    } finally {
      await ground.close();
    }
  }
}

function reasonAgainst(id: FaultId, place: Place): string | null {
  return FAULT_SCRIPTS[id].impossible?.(place) ?? null;
}

function rowOf(id: FaultId, outcomes: readonly TrialOutcome[], place: Place): Row {
  const struck = outcomes.filter(({ missed }) => !missed);
  const miss = outcomes.find(({ missed }) => missed);
  const unproven = reasonAgainst(id, place) ?? miss?.how ?? null;
  const cells = Object.fromEntries(
    GUARANTEE_IDS.map((guarantee) => [
      guarantee,
      cellOf(CELLS[id][guarantee], { struck, guarantee, unproven: unproven !== null }),
    ]),
  ) as Record<Guarantee, Cell>;
  const instead = FAULT_SCRIPTS[id].instead?.[place.kind] ?? null;
  return { fault: id, cells, how: struck.map(({ how }) => how), instead, unproven };
}

/** What goes wrong counts, wherever it does: even where nothing was promised, or where not all trials struck. */
function cellOf(
  said: Said,
  {
    struck,
    guarantee,
    unproven,
  }: { struck: readonly TrialOutcome[]; guarantee: Guarantee; unproven: boolean },
): Cell {
  const found = struck.map((outcome) => outcome.found[guarantee]);
  const problems = found.flatMap((one) => one.problems);
  const counted = found.reduce((all, one) => sum(all, one.counted), {} as Record<string, number>);
  const state =
    problems.length > 0 ? 'fails' : said.claim === 'n/a' ? 'n/a' : unproven ? 'not proven' : 'holds';
  return { state, said, trials: struck.length, counted, problems };
}
