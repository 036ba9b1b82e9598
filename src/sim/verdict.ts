/** What a run found wrong: which of the invariants of docs/simulator.md, and how. */
export type Breach = { readonly invariant: number; readonly problem: string; readonly decision: number };

/** Takes down breaches. The first is the one that counts: what follows from it says little. */
export class Verdict {
  readonly breaches: Breach[] = [];
  readonly #decisions: () => number;
  readonly #onBreach: () => void;

  constructor({ decisions, onBreach }: { decisions: () => number; onBreach: () => void }) {
    this.#decisions = decisions;
    this.#onBreach = onBreach;
  }

  readonly breach = (invariant: number, problem: string): void => {
    this.breaches.push({ invariant, problem, decision: this.#decisions() });
    this.#onBreach();
  };

  /** Reports it unless it holds. */
  readonly expect = (holds: boolean, invariant: number, problem: () => string): void => {
    if (!holds) this.breach(invariant, problem());
  };
}
