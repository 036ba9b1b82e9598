import { PawlError } from '../errors.js';

/** Turns of the event loop in which nothing is asked before all that was begun counts as ended: what makes several calls takes one between them. */
const QUIET_TURNS = 3;

/** What an application has asked its store and not been answered yet, and whether it may still ask. */
export class StoreCalls {
  #underWay = 0;
  #tellEnded: (() => void) | null = null;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  began(): void {
    this.#underWay += 1;
  }

  ended(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#tellEnded?.();
  }

  /** Once none is under way, and nobody follows with another. */
  async allEnded(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS; turns++) {
      await nextTurn();
      if (this.#underWay === 0) continue;
      await new Promise<void>((resolve) => {
        this.#tellEnded = resolve;
      });
      turns = -1;
    }
  }

  /** From now on every call is refused. */
  close(): void {
    this.#isClosed = true;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export function closedStore(cause?: unknown): PawlError {
  const detail = 'its store cannot be asked any more';
  return new PawlError('APP_CLOSED', { detail, ...(cause === undefined ? {} : { cause }) });
}
