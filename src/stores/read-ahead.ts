/**
 * Whether to read jobs in full with the search that finds them. That pays where other processes started them; what this
 * one saved itself is remembered, and would be sent for nothing. As it was with most of the last claim, so it will be.
 */
export class ReadAhead {
  #pays = false;

  get pays(): boolean {
    return this.#pays;
  }

  /** What was read ahead was of no use: there was too much of it. */
  foundCrowd(): void {
    this.#pays = false;
  }

  /** Of so many jobs that were claimed, so many were not remembered. */
  claimed(jobs: number, unknown: number): void {
    if (jobs > 0) this.#pays = unknown > jobs / 2;
  }
}
