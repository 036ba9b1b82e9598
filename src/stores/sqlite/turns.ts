/** One who writes has the file to himself. Several who are served elsewhere may be under way at once: they come one after the other there. */
export type Manner = 'alone' | 'side by side';

/** Whose turn it is to write, in the order in which they came: nobody overtakes one who waits. */
export class Turns {
  readonly #waiting: { readonly manner: Manner; readonly begin: () => void }[] = [];
  #manner: Manner = 'alone';
  #underWay = 0;

  /** Nobody writes, and nobody waits to. */
  get isFree(): boolean {
    return this.#underWay === 0 && this.#waiting.length === 0;
  }

  /** Takes a turn, if there need be no wait for it. It lasts until `leave`. */
  take(manner: Manner): boolean {
    const isOpen = this.#waiting.length === 0 && this.#fits(manner);
    if (isOpen) this.#begin(manner);
    return isOpen;
  }

  /** Takes a turn once all who came before have begun, and have left where one is to be alone. */
  wait(manner: Manner): Promise<void> {
    if (this.take(manner)) return Promise.resolve();
    return new Promise((begin) => {
      this.#waiting.push({ manner, begin });
    });
  }

  leave(): void {
    this.#underWay -= 1;
    for (let next = this.#waiting[0]; next && this.#fits(next.manner); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#begin(next.manner);
      next.begin();
    }
  }

  #fits(manner: Manner): boolean {
    return this.#underWay === 0 || (manner === 'side by side' && this.#manner === 'side by side');
  }

  #begin(manner: Manner): void {
    this.#manner = manner;
    this.#underWay += 1;
  }
}
