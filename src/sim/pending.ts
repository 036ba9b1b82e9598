import type { Host } from './host.js';

/** Something that will happen: at this time, and among what happens then in the order of a number that was drawn. */
export type Pending = {
  readonly at: number;
  readonly tie: number;
  /** Whose code runs; null for the store and the world outside, which neither crash nor stand still. */
  readonly host: Host | null;
  /** What it is, in the trace. */
  readonly label: number;
  readonly run: () => void;
  dropped: boolean;
};

/** A binary heap of what is pending, earliest first. */
export class PendingQueue {
  readonly #heap: Pending[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** When the next of it happens; null if nothing does. */
  get nextAt(): number | null {
    return this.#heap[0]?.at ?? null;
  }

  push(pending: Pending): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(pending);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Pending;
      if (!isBefore(pending, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = pending;
  }

  pop(): Pending | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Pending, heap[child] as Pending)) child += 1;
      if (!isBefore(heap[child] as Pending, last)) break;
      heap[at] = heap[child] as Pending;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}
