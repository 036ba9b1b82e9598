import type { Random } from '../../src/ports/random.js';
import type { Actor } from './actors.js';
import { pause } from './load.js';

export type Harm = {
  readonly minutes: number;
  readonly kills: number;
  readonly freezes: number;
  /** Of the database; 0 where there is no server to restart. */
  readonly restarts: number;
  readonly leaseMs: number;
};

type Fault = { readonly atMs: number; readonly kind: 'kill' | 'freeze' | 'restart' };

/** Kills, freezes and restarts at times that were drawn. It also brings back whatever is down, as a supervisor does. */
export class Monkey {
  /** What was done, by kind and to whom. */
  readonly done: Record<string, number> = {};
  readonly #workers: readonly Actor[];
  readonly #server: Actor;
  readonly #random: Random;
  readonly #restart: ((how: { crash: boolean }) => Promise<void>) | null;
  readonly #resting = new Set<Actor>();
  readonly #thaws: Promise<void>[] = [];
  #isOver = false;

  constructor(
    { workers, server }: { workers: readonly Actor[]; server: Actor },
    { random, restart }: { random: Random; restart: ((how: { crash: boolean }) => Promise<void>) | null },
  ) {
    this.#workers = workers;
    this.#server = server;
    this.#random = random;
    this.#restart = restart;
  }

  /** Until all of it is done. */
  async run(harm: Harm): Promise<void> {
    const startedAt = performance.now();
    for (const { atMs, kind } of this.#plan(harm)) {
      await pause(Math.max(0, atMs - (performance.now() - startedAt)));
      if (this.#isOver) return;
      if (kind === 'kill') await this.#kill();
      else if (kind === 'freeze') await this.#freeze(harm.leaseMs);
      else await this.#restartStore();
    }
    await pause(Math.max(0, harm.minutes * 60_000 - (performance.now() - startedAt)));
  }

  /** Starts again what has ended, by itself or by force, until it is told to end. */
  async supervise(): Promise<void> {
    while (!this.#isOver) {
      for (const actor of [...this.#workers, this.#server]) if (!this.#resting.has(actor)) actor.start();
      await pause(100);
    }
  }

  /** Nothing more happens to anyone, and everybody is awake. */
  async heal(): Promise<void> {
    await Promise.all(this.#thaws);
    for (const actor of [...this.#workers, this.#server]) actor.thaw();
  }

  stop(): void {
    this.#isOver = true;
  }

  #plan({ minutes, kills, freezes, restarts }: Harm): Fault[] {
    const faults = (kind: Fault['kind'], count: number): Fault[] =>
      Array.from({ length: count }, () => ({ atMs: this.#random.int(Math.round(minutes * 60_000)), kind }));
    return [...faults('kill', kills), ...faults('freeze', freezes), ...faults('restart', restarts)].toSorted(
      (a, b) => a.atMs - b.atMs,
    );
  }

  async #kill(): Promise<void> {
    // One in five hits the server.
    const candidates = this.#random.int(5) === 0 ? [this.#server] : this.#workers;
    const victim = await this.#someoneUp(() => candidates);
    this.#resting.add(victim);
    await victim.kill();
    this.#count(victim === this.#server ? 'SIGKILL of the server' : 'SIGKILL of a worker');
    const restMs = this.#random.int(600);
    void pause(restMs).then(() => this.#resting.delete(victim));
  }

  async #freeze(leaseMs: number): Promise<void> {
    const awake = () => [...this.#workers, this.#server].filter((actor) => !actor.isFrozen);
    const frozen = await this.#someoneUp(awake);
    // From a hiccup to more than two leases.
    const ms = 100 + this.#random.int(Math.round(leaseMs * 2.5));
    frozen.freeze();
    this.#count(ms > leaseMs ? 'SIGSTOP for more than a lease' : 'SIGSTOP for less than a lease');
    this.#thaws.push(pause(ms).then(() => frozen.thaw()));
  }

  async #restartStore(): Promise<void> {
    if (this.#restart === null) return;
    const crash = this.#random.int(2) === 0;
    await this.#restart({ crash });
    this.#count(crash ? 'crash of the database' : 'restart of the database');
  }

  /** Everything that was asked for hits somebody, if need be once somebody is there again. */
  async #someoneUp(candidates: () => readonly Actor[]): Promise<Actor> {
    for (;;) {
      const found = this.#pick(candidates().filter((actor) => actor.isUp));
      if (found !== undefined) return found;
      await pause(20);
    }
  }

  #pick(actors: readonly Actor[]): Actor | undefined {
    return actors[this.#random.int(Math.max(1, actors.length))];
  }

  #count(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }
}
