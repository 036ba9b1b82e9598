import { planOf } from '../sim/plan.js';
import { simulate, type Outcome } from '../sim/simulation.js';
import {
  CELLS,
  FAULT_IDS,
  GUARANTEE_IDS,
  LOST_IN_MEMORY,
  type FaultId,
  type Guarantee,
  type Said,
} from './cells.js';
import { InVain } from './eventually.js';
import { loseMemory, type LossFound, type MemoryLoss } from './memory-loss.js';
import type { Cell, Row } from './outcome.js';
import { MOST_MISSES } from './run-matrix.js';
import { sum } from './run-trial.js';
import { SIMULATED, strikeOf, type SimStrike } from './simulated-faults.js';
import type { Program } from './worker-process.js';

/** A schedule of the simulator takes some milliseconds: so many stand for one trial. */
const SCHEDULES = 100;
/** More of them follow, up to so many, while a fault has not been met: chance alone leaves none unproven. */
const MOST_SCHEDULES = 1_000;

/** The invariants of docs/simulator.md that each guarantee rests on. */
const INVARIANTS: Readonly<Record<Guarantee, readonly number[]>> = {
  G1: [13, 14, 23, 24, 25, 26, 27],
  G2: [8],
  G3: [7],
  G4: [9, 20, 21],
  G5: [1, 10, 11, 12, 15, 16, 17],
  G6: [2, 3, 4, 5, 6, 18, 19, 22],
  G7: [7, 8],
};

type Met = { readonly times: number; readonly outcome: Outcome };

/**
 * The matrix of a store in memory. Nothing of it outlives a process, so the processes are simulated, and the store is
 * what they share: the same code under virtual time, and the invariants checked after every commit. That nothing of it
 * outlives a process is tried with real ones.
 */
export async function simulatedMatrix({
  trials,
  only,
  program,
  onTrial,
}: {
  readonly trials: number;
  readonly only: readonly FaultId[] | null;
  /** What processes are started with. */
  readonly program: Program;
  readonly onTrial: (done: number) => void;
}): Promise<Row[]> {
  const wanted = FAULT_IDS.filter((id) => only?.includes(id) ?? true);
  const met = new Map<FaultId, Met[]>(wanted.map((id) => [id, []]));
  const isMissing = () => wanted.some((id) => met.get(id)?.length === 0);
  for (let seed = 1; seed <= trials * SCHEDULES || (isMissing() && seed <= MOST_SCHEDULES); seed++) {
    const plan = planOf(seed);
    const strikes: SimStrike[] = [];
    const outcome = await simulate(plan, {
      onFault: (fault, call) => strikes.push(strikeOf(fault, call, plan.leaseMs)),
    });
    const times = wanted.map((id) => SIMULATED[id](strikes, outcome.hits));
    // What goes wrong where no fault was met is everybody's.
    const isAll = outcome.breaches.length > 0 && times.every((count) => count === 0);
    for (const [n, id] of wanted.entries()) {
      if (isAll || (times[n] ?? 0) > 0) met.get(id)?.push({ times: times[n] ?? 0, outcome });
    }
    if (seed % SCHEDULES === 0) onTrial(seed);
  }
  const losses = wanted.includes('F9') ? await lossesOf(program, trials) : [];
  return wanted.map((id) => {
    const row = rowOf(id, met.get(id) ?? []);
    return id === 'F9' ? withLosses(row, losses) : row;
  });
}

/** Fewer than were asked for, or none, if processes do not do as they are told. */
async function lossesOf(program: Program, trials: number): Promise<MemoryLoss[]> {
  const losses: MemoryLoss[] = [];
  for (let misses = 0; losses.length < trials && misses < MOST_MISSES;) {
    try {
      losses.push(await loseMemory(program));
    } catch (error) {
      if (!(error instanceof InVain)) throw error;
      misses += 1;
    }
  }
  return losses;
}

function rowOf(fault: FaultId, met: readonly Met[]): Row {
  const struck = met.reduce((all, { times }) => all + times, 0);
  const cells = Object.fromEntries(
    GUARANTEE_IDS.map((guarantee) => [guarantee, cellOf(CELLS[fault][guarantee], guarantee, met)]),
  ) as Record<Guarantee, Cell>;
  return {
    fault,
    cells,
    how: met.length === 0 ? [] : [`met ${struck} times in ${met.length} simulated schedules`],
    instead: 'simulated processes in virtual time',
    unproven: met.length === 0 ? 'no schedule met it: ask for more trials' : null,
  };
}

/** A store in memory that is gone does not come back: what is said of that rests on processes that were killed with theirs. */
export function withLosses(row: Row, losses: readonly MemoryLoss[]): Row {
  const { G1, G5 } = row.cells;
  return {
    ...row,
    cells: {
      ...row.cells,
      G1: cellWith(
        G1,
        G1.said,
        losses.map(({ G1: found }) => found),
      ),
      G5: cellWith(
        G5,
        LOST_IN_MEMORY,
        losses.map(({ G5: found }) => found),
      ),
    },
    how: [...row.how, ...losses.map(() => 'a real process was killed (SIGKILL) with its store in memory')],
    instead: `${row.instead}, and real processes that are killed with their store`,
    unproven: row.unproven ?? (losses.length === 0 ? 'no process was killed with its store' : null),
  };
}

function cellWith(cell: Cell, said: Said, found: readonly LossFound[]): Cell {
  const problems = [...cell.problems, ...found.flatMap((one) => one.problems)];
  const counted = found.reduce((all, one) => sum(all, one.counted), cell.counted);
  const state = problems.length > 0 ? 'fails' : found.length === 0 ? 'not proven' : cell.state;
  return { state, said, trials: cell.trials + found.length, counted, problems };
}

function cellOf(said: Said, guarantee: Guarantee, met: readonly Met[]): Cell {
  const problems = met.flatMap(({ outcome: { seed, breaches } }) =>
    breaches
      .filter(({ invariant }) => INVARIANTS[guarantee].includes(invariant))
      .map(({ invariant, problem }) => `seed ${seed}, invariant ${invariant}: ${problem}`),
  );
  const decisions = met.reduce((all, { outcome }) => all + outcome.decisions, 0);
  const counted = {
    decisions,
    [`breaches of invariants ${INVARIANTS[guarantee].join(', ')}`]: problems.length,
  };
  const state =
    problems.length > 0 ? 'fails' : said.claim === 'n/a' ? 'n/a' : met.length === 0 ? 'not proven' : 'holds';
  return { state, said, trials: met.length, counted, problems };
}
