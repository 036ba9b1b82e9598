import { hash32 } from '../kernel/index.js';
import type { Random } from '../ports/random.js';
import { prng } from '../testkit/prng.js';
import { T0 } from '../testkit/sample-job.js';
import type { Host } from './host.js';
import { PendingQueue, type Pending } from './pending.js';

/** A microtask by way of a promise costs a third of what `queueMicrotask` does. */
const DONE = Promise.resolve();

/** Two to the 32nd: how finely things that happen at one time are put in order. */
const TIES = 2 ** 32;

/**
 * A deterministic world: time, chance, and what happens next. Everything that is asynchronous between the simulated
 * processes is pending here, and nothing else ever lets time pass, so a seed decides all of it.
 */
export class World {
  readonly seed: number;
  readonly queue = new PendingQueue();
  now = T0;
  decisions = 0;
  /** Whose code runs at the moment. */
  current: Host | null = null;
  readonly #tell: ((line: string) => void) | null;
  readonly #random: Random;
  #hash = 0x811c9dc5;
  #over = false;

  /** `tell`: who wants to read what happens. */
  constructor(seed: number, tell: ((line: string) => void) | null = null) {
    this.seed = seed;
    this.#tell = tell;
    this.#random = prng(mix(seed, 0x5eed));
  }

  /** A stream of chance of its own, so that one that draws more does not change what the others get. */
  stream(name: string): Random {
    return prng(mix(this.seed, hash32(name)));
  }

  /** What the run was, in one number: equal hashes mean that the same things happened in the same order. */
  get traceHash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** A line of the story of this run. Costs nothing where nobody reads it. */
  tell(line: () => string): void {
    if (this.#tell === null) return;
    const at = ((this.now - T0) / 1_000).toFixed(3).padStart(9);
    this.#tell(`${at} ${String(this.decisions).padStart(6)} ${line()}`);
  }

  note(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, 0x01000193);
    this.#hash ^= this.#hash >>> 15;
  }

  schedule(delayMs: number, host: Host | null, label: number, run: () => void): Pending {
    const at = this.now + Math.max(0, Math.ceil(delayMs));
    const pending: Pending = { at, tie: this.#random.int(TIES), host, label, run, dropped: false };
    this.queue.push(pending);
    return pending;
  }

  /** The next thing happens. False if there is nothing. */
  step(): boolean {
    for (;;) {
      const next = this.queue.pop();
      if (next === undefined) return false;
      const { host } = next;
      if (next.dropped || (host !== null && host.isDead)) continue;
      if (next.at > this.now) this.now = next.at;
      if (host !== null && host.isPaused) {
        host.stall(next);
        continue;
      }
      this.decisions += 1;
      this.note(next.label ^ (this.now - T0) ^ (host === null ? 0 : (host.index + 1) << 24));
      this.current = host;
      next.run();
      return true;
    }
  }

  /**
   * Lets things happen until `isOver`. Before the first and after each, all that follows from what has been done runs to
   * its end without time passing: the next one is taken in a tick that is asked for by a microtask, and a tick comes only
   * when no microtask is left. Without that before the first, a world whose processes have only just been called looks empty.
   */
  run(isOver: () => boolean): Promise<void> {
    const setImmediateBefore = globalThis.setImmediate;
    globalThis.setImmediate = this.#immediate as typeof setImmediate;
    return new Promise<void>((resolve, reject) => {
      const ask = () => process.nextTick(turn);
      const turn = (): void => {
        try {
          if (this.#over || isOver() || !this.step()) {
            resolve();
            return;
          }
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        void DONE.then(ask);
      };
      void DONE.then(ask);
    }).finally(() => {
      globalThis.setImmediate = setImmediateBefore;
    });
  }

  /** Nothing happens any more. */
  end(): void {
    this.#over = true;
  }

  /** A turn of a process's event loop is an event like any other: replies and timers may come before it. */
  readonly #immediate = (action: () => void): void => {
    this.schedule(0, this.current, IMMEDIATE, action);
  };
}

export const IMMEDIATE = hash32('immediate');

export function mix(a: number, b: number): number {
  let z = Math.imul(a ^ (a >>> 16), 0x21f0aaad) ^ b;
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) | 0;
}
