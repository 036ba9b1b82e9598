import type { Random } from '../ports/random.js';
import {
  OVERLAP_POLICIES,
  CATCH_UP_POLICIES,
  type CatchUpPolicy,
  type OverlapPolicy,
} from '../engine/schedules/schedule.js';
import { prng } from '../testkit/prng.js';
import { drawAimedFaults, drawFaults, type Fault } from './faults.js';
import { drawProgram, type Program } from './workload/program.js';
import { TASK_NAMES, type TaskName } from './workload/tasks.js';
import { mix } from './world.js';

/** Something that a client or an operator does. `pick` chooses among the jobs that are there by then. */
export type Operation = { readonly atMs: number; readonly client: number } & (
  | {
      readonly do: 'start';
      readonly task: TaskName;
      readonly tenantId: string;
      readonly program: Program;
      readonly rounds: number;
      readonly key: string | null;
      readonly scope: string | null;
      readonly delayMs: number;
      readonly priority: number;
      readonly concurrencyKey: string | null;
      readonly awaited: boolean;
    }
  | {
      readonly do: 'signal' | 'cancel' | 'abandon' | 'foreign' | 'hold' | 'settle';
      readonly pick: number;
      readonly twice: boolean;
    }
  | { readonly do: 'pause'; readonly queue: string; readonly forMs: number }
  | { readonly do: 'requeue' | 'discard'; readonly pick: number; readonly twice: boolean }
  | {
      readonly do: 'schedule';
      readonly id: string;
      readonly everyMs: number;
      readonly overlap: OverlapPolicy;
      readonly catchUp: CatchUpPolicy;
      readonly program: Program;
    }
);
export type OperationKind = Operation['do'];

export type WorkerPlan = {
  /** Whether it has a name that it keeps across restarts. */
  readonly named: boolean;
  readonly concurrency: number;
  readonly skewMs: number;
};

/** All of a run that its seed decides beforehand. Whatever is left out of it later, the rest stays what it was. */
export type Plan = {
  readonly seed: number;
  readonly workers: readonly WorkerPlan[];
  readonly clients: number;
  readonly operations: readonly Operation[];
  readonly faults: readonly Fault[];
  readonly leaseMs: number;
  readonly pollMs: number;
  /** Null: finished jobs are kept. */
  readonly keepMs: number | null;
};

const TENANTS = ['default', 'acme', 'zeta'] as const;
const HOUR_MS = 3_600_000;
const SPREAD_MS = 20_000;
/** The least that retention allows: longer than mail is under way and starts are sent again. */
const KEEP_MS = 60_000;

export function planOf(seed: number): Plan {
  const random = prng(mix(seed, 0x91a7));
  const starts = 2 + random.int(5);
  const operations = [
    ...Array.from({ length: starts }, () => drawStarts(random)).flat(),
    ...Array.from({ length: random.int(8) }, () => drawOperation(random)),
    ...drawAbandons(prng(mix(seed, 0xaba2))),
  ];
  return {
    seed,
    workers: Array.from({ length: 1 + random.int(3) }, () => ({
      named: random.int(2) === 0,
      concurrency: 1 + random.int(4),
      skewMs: random.int(3) === 0 ? (random.int(2) === 0 ? -HOUR_MS : HOUR_MS) : 0,
    })),
    clients: 2,
    operations: operations.toSorted((a, b) => a.atMs - b.atMs),
    faults: [...drawFaults(random), ...drawAimedFaults(prng(mix(seed, 0xbea7)))],
    leaseMs: [5_000, 10_000][random.int(2)] as number,
    pollMs: [1_000, 3_000][random.int(2)] as number,
    keepMs: random.int(2) === 0 ? KEEP_MS : null,
  };
}

/** One start; or several of one key, by clients that race each other. */
function drawStarts(random: Random): Operation[] {
  const atMs = random.int(3) === 0 ? 0 : random.int(SPREAD_MS);
  const task = TASK_NAMES[random.int(TASK_NAMES.length)] as TaskName;
  const keyed = random.int(4) === 0;
  const start: Extract<Operation, { do: 'start' }> = {
    do: 'start',
    atMs,
    client: random.int(2),
    task,
    tenantId: TENANTS[random.int(TENANTS.length)] as string,
    program: drawProgram(random),
    rounds: random.int(8) === 0 ? 2 + random.int(6) : 0,
    key: keyed ? `key-${random.int(2)}-${task}` : null,
    scope: keyed && random.int(3) === 0 ? 'scope' : null,
    delayMs: random.int(4) === 0 ? random.int(4_000) : 0,
    priority: random.int(3),
    concurrencyKey: task === 'keyed' ? ('ab'[random.int(2)] as string) : null,
    awaited: random.int(3) === 0,
  };
  const copies = keyed ? 1 + random.int(3) : task === 'keyed' || task === 'rated' ? 1 + random.int(4) : 1;
  /** Some use the same key for something else, in another tenant or in another scope. */
  const other = (copy: number): Partial<typeof start> => {
    if (!keyed || copy === 0) return {};
    if (random.int(3) === 0) return { program: drawProgram(random) };
    if (random.int(3) === 0) return { tenantId: TENANTS[random.int(TENANTS.length)] as string };
    return random.int(4) === 0 ? { scope: start.scope === null ? 'scope' : null } : {};
  };
  return Array.from({ length: copies }, (_, copy) => ({
    ...start,
    ...other(copy),
    client: copy % 2,
    atMs: atMs + (copy === 0 ? 0 : random.int(3) * random.int(200)),
  }));
}

/** By one run in three. Drawn apart: all else of a seed stays what it was. */
function drawAbandons(random: Random): Operation[] {
  if (random.int(3) !== 0) return [];
  const atMs = 500 + random.int(SPREAD_MS + 10_000);
  return [{ do: 'abandon', atMs, client: random.int(2), pick: random.int(64), twice: random.int(3) === 0 }];
}

function drawOperation(random: Random): Operation {
  const base = { atMs: 500 + random.int(SPREAD_MS + 10_000), client: random.int(2) };
  const aimed = { ...base, pick: random.int(64), twice: random.int(3) === 0 };
  switch (random.int(12)) {
    case 0:
    case 1:
    case 2:
      return { do: 'signal', ...aimed, atMs: random.int(SPREAD_MS) };
    case 3:
    case 4:
      return { do: 'cancel', ...aimed };
    case 5:
      return { do: 'foreign', ...aimed };
    case 6:
      return { do: 'hold', ...aimed };
    case 7:
      return {
        do: 'pause',
        ...base,
        queue: ['default', 'slow'][random.int(2)] as string,
        forMs: 500 + random.int(6_000),
      };
    case 8:
      return { do: 'requeue', ...aimed, atMs: base.atMs + 10_000 };
    case 9:
      return { do: 'discard', ...aimed, atMs: base.atMs + 10_000 };
    case 10:
      return { do: 'settle', ...aimed };
    default:
      return {
        do: 'schedule',
        ...base,
        id: `every-${random.int(2)}`,
        everyMs: 1_000 + random.int(5_000),
        overlap: OVERLAP_POLICIES[random.int(OVERLAP_POLICIES.length)] as OverlapPolicy,
        catchUp: CATCH_UP_POLICIES[random.int(CATCH_UP_POLICIES.length)] as CatchUpPolicy,
        program: drawProgram(random, { path: '', depth: 1 }),
      };
  }
}
