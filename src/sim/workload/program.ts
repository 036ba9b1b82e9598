import type { Random } from '../../ports/random.js';

/** One thing that a simulated handler does. Names are unique within a branch, so that replays count them alike. */
export type Instruction =
  | { readonly do: 'run'; readonly name: string; readonly ms: number; readonly failPercent: number }
  | { readonly do: 'retry'; readonly name: string; readonly ms: number; readonly failPercent: number }
  | { readonly do: 'effect'; readonly name: string; readonly kind: EffectKind }
  | { readonly do: 'sleep'; readonly name: string; readonly ms: number }
  | { readonly do: 'wait'; readonly key: string; readonly timeoutMs: number | null }
  | { readonly do: 'call'; readonly name: string; readonly task: ChildTask; readonly program: Program }
  | { readonly do: 'race'; readonly name: string; readonly ms: number; readonly sleepMs: number }
  | { readonly do: 'values' }
  | { readonly do: 'parallel'; readonly branches: readonly Program[] }
  | { readonly do: 'throw'; readonly percent: number; readonly fatal: boolean };

export type Program = readonly Instruction[];
export const EFFECT_KINDS = ['parked', 'failed', 'reconciled', 'timed'] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];
export const CHILD_TASKS = ['plain', 'timed', 'mortal'] as const;
export type ChildTask = (typeof CHILD_TASKS)[number];

export type WorkInput = { readonly program: Program; readonly key: string | null; readonly rounds: number };

type Place = { readonly path: string; readonly depth: number };
const SLEEPS_MS = [10, 300, 1_200, 3_000, 9_000] as const;

/** A random program. `depth` bounds branches within branches, and children of children. */
export function drawProgram(random: Random, { path, depth }: Place = { path: '', depth: 0 }): Program {
  const length = 1 + random.int(depth === 0 ? 4 : 2);
  const program: Instruction[] = [];
  for (let at = 0; at < length; at++) {
    program.push(drawInstruction(random, { path: `${path}${at}`, depth }));
    // The same step once more: its second occurrence.
    const last = program.at(-1);
    if ((last?.do === 'run' || last?.do === 'effect') && random.int(5) === 0) program.push(last);
  }
  return program;
}

function drawInstruction(random: Random, { path, depth }: Place): Instruction {
  const pick = <T>(from: readonly T[]): T => from[random.int(from.length)] as T;
  const within = { path: `${path}.`, depth: depth + 1 };
  const failPercent = random.int(3) === 0 ? pick([10, 40]) : 0;
  const ms = pick([0, 0, 0, 5, 5, 200, 2_000, 15_000]);
  switch (random.int(depth < 2 ? 12 : 8)) {
    case 0:
    case 1:
      return { do: 'run', name: `r${path}`, ms, failPercent };
    case 2:
      return { do: 'retry', name: `t${path}`, ms, failPercent: 40 };
    case 3:
    case 4:
      return { do: 'effect', name: `e${path}`, kind: pick(EFFECT_KINDS) };
    case 5:
      return { do: 'sleep', name: `s${path}`, ms: pick(SLEEPS_MS) };
    case 6: {
      const timeoutMs = random.int(2) === 0 ? null : pick([500, 2_500, 8_000]);
      return { do: 'wait', key: `k${path}`, timeoutMs };
    }
    case 7:
      // Branches that run side by side would count these differently from one run to the next.
      return depth === 0 && random.int(2) === 0
        ? { do: 'values' }
        : { do: 'race', name: `c${path}`, ms, sleepMs: pick([1, 5, 200, 1_500]) };
    case 8:
    case 9: {
      const task = pick(CHILD_TASKS);
      return { do: 'call', name: `j${path}`, task, program: drawProgram(random, within) };
    }
    case 10: {
      const branches = Array.from({ length: 2 + random.int(2) }, (_, branch) =>
        drawProgram(random, { path: `${path}${'abc'[branch]}`, depth: depth + 1 }),
      );
      return { do: 'parallel', branches };
    }
    default:
      return { do: 'throw', percent: pick([20, 60, 100]), fatal: random.int(4) === 0 };
  }
}

/** The keys that a program waits for: its own, and not its children's. */
export function keysOf(program: Program): string[] {
  return program.flatMap((instruction) => {
    if (instruction.do === 'wait') return [instruction.key];
    return instruction.do === 'parallel' ? instruction.branches.flatMap((branch) => keysOf(branch)) : [];
  });
}
