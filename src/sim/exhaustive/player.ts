import type { Clock } from '../../ports/clock.js';
import type { Random } from '../../ports/random.js';
import { T0 } from '../../testkit/sample-job.js';
import { mix, type World } from '../world.js';
import { Host } from '../host.js';
import { hash32 } from '../../kernel/index.js';

type Timer = { readonly at: number; readonly action: () => void };

/** One process on the board: its timers run when somebody says so. */
export class Player {
  readonly host: Host;
  readonly random: Random;
  /** Everything that it was ever told, in one number. */
  told = '';
  readonly #world: World;
  readonly #timers = new Set<Timer>();
  readonly #listeners = new Set<(lanes: readonly string[]) => void>();
  #orders = 0;

  constructor(world: World, index: number) {
    this.#world = world;
    this.host = new Host(world, { index, name: `worker ${index}` });
    this.random = this.host.random;
  }

  readonly clock: Clock = {
    now: () => this.#world.now,
    elapsed: () => this.#world.now - T0,
    after: (delayMs, action) => {
      const timer = { at: this.#world.now + Math.max(0, delayMs), action };
      this.#timers.add(timer);
      return () => {
        this.#timers.delete(timer);
      };
    },
  };

  nextOrder(): number {
    return (this.#orders += 1);
  }

  hear(what: string): void {
    this.told = `${mix(hash32(this.told), hash32(what))}:${mix(hash32(what), hash32(this.told) ^ 0x5bd1e995)}`;
  }

  /** Some of its timers should have run by now. */
  get isDue(): boolean {
    return [...this.#timers].some(({ at }) => at <= this.#world.now);
  }

  fire(): void {
    this.hear(`timers at ${this.#world.now}`);
    for (const timer of [...this.#timers].filter(({ at }) => at <= this.#world.now)) {
      if (this.#timers.delete(timer)) timer.action();
    }
  }

  listen(hear: (lanes: readonly string[]) => void): () => Promise<void> {
    this.#listeners.add(hear);
    return async () => {
      this.#listeners.delete(hear);
    };
  }

  wake(lanes: readonly string[]): void {
    if (this.host.isDead) return;
    this.hear(`wake ${lanes.join()}`);
    for (const hear of this.#listeners) hear(lanes);
  }
}
