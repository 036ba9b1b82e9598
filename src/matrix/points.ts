import { appendFileSync, existsSync } from 'node:fs';
import { systemClock } from '../client/system-clock.js';

export type Armed = {
  /** The point at which the process dies; null: none. */
  readonly at: string | null;
  /** `SIGSTOP`: it does not die, but stands still, wherever it is. */
  readonly by?: 'SIGKILL' | 'SIGSTOP';
  /** A file that gets a line for each point, before it is passed. */
  readonly trace: string;
  /** A body that goes on only once this file is there. The rest of the process goes on meanwhile. */
  readonly hold?: { readonly at: string; readonly until: string };
};

const LOOK_AGAIN_MS = 5;

/** Points that a process passes, by name and how often; at one of them it is killed, without a chance to do anything. */
export class Points {
  readonly #passed = new Map<string, number>();
  readonly #attempts = new Map<string, string>();
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

  /** Within a body: stays there until it is let go, if it is the one to be held. */
  async hold(name: string): Promise<void> {
    const { hold } = this.#armed ?? {};
    if (hold?.at !== name) return;
    while (!existsSync(hold.until)) {
      await new Promise<void>((resolve) => {
        systemClock.after(LOOK_AGAIN_MS, resolve);
      });
    }
  }

  count(name: string): number {
    return this.#passed.get(name) ?? 0;
  }

  claimed(jobId: string, attemptId: string): void {
    this.#attempts.set(jobId, attemptId);
  }

  /** The latest claim of a job by this process. */
  attemptOf(jobId: string): string {
    return this.#attempts.get(jobId) ?? '';
  }
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // Until the signal arrives, nothing else may happen.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}
