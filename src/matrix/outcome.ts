import type { FaultId, Guarantee, Said } from './cells.js';

/**
 * `holds`: in every trial, as it is said. `fails`: not in all of them. `not proven`: the fault could not be brought about
 * here. `n/a`: the fault does not touch it.
 */
export type CellState = 'holds' | 'fails' | 'not proven' | 'n/a';

/** One cell of the matrix: what is said, what was found, and what that rests on. */
export type Cell = {
  readonly state: CellState;
  readonly said: Said;
  readonly trials: number;
  /** What was looked at in all trials together. */
  readonly counted: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};

/** One fault with its seven cells. */
export type Row = {
  readonly fault: FaultId;
  readonly cells: Readonly<Record<Guarantee, Cell>>;
  /** How it was brought about in each trial. */
  readonly how: readonly string[];
  /** What stood for it, where the store cannot suffer it; null: the fault itself. */
  readonly instead: string | null;
  /** Why nothing is proven; null: it is. */
  readonly unproven: string | null;
};

/** The matrix of one store, and where it was found. */
export type Matrix = {
  /** `simulated`: in virtual time, within one process. */
  readonly store: 'SQLite' | 'Postgres' | 'memory (simulated)';
  readonly version: string;
  readonly rows: readonly Row[];
  readonly tookMs: number;
};

export function failedCells({ rows }: Matrix): { readonly fault: FaultId; readonly guarantee: Guarantee }[] {
  return rows.flatMap(({ fault, cells }) =>
    (Object.keys(cells) as Guarantee[])
      .filter((guarantee) => cells[guarantee].state === 'fails')
      .map((guarantee) => ({ fault, guarantee })),
  );
}

export function unprovenFaults({ rows }: Matrix): FaultId[] {
  return rows.filter(({ unproven }) => unproven !== null).map(({ fault }) => fault);
}
