import { appendFileSync } from 'node:fs';

export type Armed = {
  /** The point at which the process dies; null: none. */
  readonly at: string | null;
  /** `SIGSTOP`: it does not die, but stands still, wherever it is. */
  readonly by?: 'SIGKILL' | 'SIGSTOP';
  /** A file that gets a line for each point, before it is passed. */
  readonly trace: string;
};

/** Points that a process passes, by name and how often; at one of them it is killed, without a chance to do anything. */
export class Points {
  readonly #passed = new Map<string, number>();
  #armed: Armed | null = null;

  /** From now on, counted from one. */
  arm(armed: Armed): void {
    this.#passed.clear();
    this.#armed = armed;
  }

  readonly pass = (name: string): void => {
    if (this.#armed === null) return;
    const count = this.count(name) + 1;
    this.#passed.set(name, count);
    const point = `${name} ${count}`;
    appendFileSync(this.#armed.trace, `${point}\n`);
    if (point !== this.#armed.at) return;
    if (this.#armed.by === 'SIGSTOP') process.kill(process.pid, 'SIGSTOP');
    else die();
  };

  count(name: string): number {
    return this.#passed.get(name) ?? 0;
  }
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // Until the signal arrives, nothing else may happen.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}
