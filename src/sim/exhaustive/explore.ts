import type { Breach } from '../verdict.js';
import { Board } from './board.js';

export type Explored = {
  readonly states: number;
  readonly transitions: number;
  readonly ends: number;
  /** Null: nothing was wrong anywhere. */
  readonly breach: { readonly path: readonly number[]; readonly breach: Breach } | null;
  /** False: the search was stopped before it was through. */
  readonly isComplete: boolean;
};

/**
 * Goes through everything that can happen on the board. A board cannot be copied, so each branch is played again from
 * the beginning; a state that was met before is not looked at twice, however it was reached.
 */
export async function exploreAll({
  mostStates = Number.POSITIVE_INFINITY,
  onProgress = () => undefined,
}: {
  mostStates?: number;
  onProgress?: (explored: { states: number; transitions: number; open: number }) => void;
} = {}): Promise<Explored> {
  const seen = new Set<string>();
  const open: number[][] = [[]];
  let transitions = 0;
  let ends = 0;
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const board = new Board();
    await board.open();
    for (const choice of path) {
      const move = board.enabled()[choice];
      if (move) await board.take(move);
    }
    for (;;) {
      const [breach] = board.verdict.breaches;
      if (breach)
        return { states: seen.size, transitions, ends, breach: { path, breach }, isComplete: false };
      const hash = board.hash();
      if (seen.has(hash)) break;
      seen.add(hash);
      if (seen.size >= mostStates)
        return { states: seen.size, transitions, ends, breach: null, isComplete: false };
      if (seen.size % 1_000 === 0) onProgress({ states: seen.size, transitions, open: open.length });
      const moves = board.enabled();
      transitions += moves.length;
      const [first, ...others] = moves;
      if (first === undefined) {
        ends += 1;
        break;
      }
      for (const [index] of others.entries()) open.push([...path, index + 1]);
      path = [...path, 0];
      await board.take(first);
    }
  }
  return { states: seen.size, transitions, ends, breach: null, isComplete: true };
}

/** For the command line. */
export async function explore(print: (line: string) => void): Promise<boolean> {
  const found = await exploreAll({
    onProgress: ({ states, transitions, open }) =>
      print(`${states} states, ${transitions} transitions, ${open} branches open`),
  });
  print(`${found.states} states, ${found.transitions} transitions, ${found.ends} ends`);
  if (found.breach === null) return true;
  const { breach, path } = found.breach;
  print(`invariant ${breach.invariant}: ${breach.problem}`);
  print(`after moves ${path.join(' ')}`);
  return false;
}
