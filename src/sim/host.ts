import { hash32 } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import type { Random } from '../ports/random.js';
import { T0 } from '../testkit/sample-job.js';
import type { Pending } from './pending.js';
import type { World } from './world.js';

const TIMER = hash32('timer');
const BODY = hash32('body');

/** One simulated process: its clock, its chance, and whether it runs, stands still or is gone. */
export class Host {
  readonly index: number;
  readonly name: string;
  readonly world: World;
  readonly random: Random;
  /** How far its wall clock is off. Nothing that counts may be decided by it. */
  skewMs = 0;
  /** Timers of its clock that have not run. */
  timers = 0;
  #dead = false;
  #pausedUntil = 0;
  #stalled: Pending[] = [];

  constructor(world: World, { index, name }: { index: number; name: string }) {
    this.world = world;
    this.index = index;
    this.name = name;
    this.random = world.stream(`host ${index}`);
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > this.world.now;
  }

  /** It is gone, in the middle of whatever it did. */
  crash(): void {
    this.#dead = true;
    this.#stalled = [];
  }

  /** It stands still, as by SIGSTOP. What reaches it meanwhile happens afterwards, in any order. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.world.now + ms);
    this.world.schedule(this.#pausedUntil - this.world.now, null, RESUME, () => {
      if (!this.isPaused) this.resume();
    });
  }

  resume(): void {
    this.#pausedUntil = 0;
    const stalled = this.#stalled;
    this.#stalled = [];
    for (const { label, run } of stalled.filter(({ dropped }) => !dropped)) {
      this.world.schedule(0, this, label, run);
    }
  }

  stall(pending: Pending): void {
    this.#stalled.push(pending);
  }

  readonly clock: Clock = {
    now: () => this.world.now + this.skewMs,
    elapsed: () => this.world.now - T0,
    after: (delayMs, action) => {
      this.timers += 1;
      let isOver = false;
      const end = (): void => {
        if (!isOver) this.timers -= 1;
        isOver = true;
      };
      const pending = this.world.schedule(delayMs, this, TIMER, () => {
        if (isOver) return;
        end();
        action();
      });
      return () => {
        pending.dropped = true;
        end();
      };
    },
  };

  /** What a body does for a while. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.world.schedule(ms, this, BODY, resolve);
    });
  }

  /** Runs code of this process, from outside of it; never, if it is gone. */
  enter(run: () => Promise<void>): void {
    this.world.schedule(0, this, ENTER, () => void run());
  }

  chance(percent: number): boolean {
    return this.random.int(100) < percent;
  }
}

const RESUME = hash32('resume');
const ENTER = hash32('enter');
