import { pawl } from '../../client/pawl.js';
import { task } from '../../client/task.js';
import { sha256 } from '../../engine/sha256.js';
import { hash32 } from '../../kernel/index.js';
import type { HandlerContext } from '../../worker/task-definition.js';
import type { Store } from '../../ports/store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { Tables } from '../../stores/memory/tables.js';
import { StoreWatch } from '../check/store-watch.js';
import { Hits } from '../hits.js';
import type { Call } from '../network.js';
import { Verdict } from '../verdict.js';
import { World } from '../world.js';
import { Player } from './player.js';

export const LEASE_MS = 9_000;
const JOBS = 2;
const WORKERS = 2;
const EAGER = hash32('eager');

/** Calls that change nothing here and find nothing: when they happen makes no difference to anyone. */
const IDLE_CALLS: ReadonlySet<string> = new Set<keyof Store>([
  'takeOutbox',
  'dueSchedules',
  'unread',
  'due',
  'pausedQueues',
  'records',
]);

type Held = {
  readonly call: Call;
  readonly player: Player;
  readonly order: number;
  readonly answer: (reply: unknown) => void;
};

/** What may happen next. */
export type Move =
  | { readonly do: 'call'; readonly held: Held }
  | { readonly do: 'timers'; readonly player: Player }
  | { readonly do: 'crash'; readonly player: Player }
  | { readonly do: 'expire' };

/**
 * Two real workers on one store, two jobs of one step each, one crash and one lease that runs out: small enough for every
 * order in which things can happen. Nothing happens but by a move.
 */
export class Board {
  readonly world = new World(1);
  readonly tables = new Tables();
  readonly verdict = new Verdict({ decisions: () => this.moves, onBreach: () => undefined });
  moves = 0;
  readonly #store = memoryStore({ clock: { now: () => this.world.now }, tables: this.tables });
  readonly #watch = new StoreWatch({
    world: this.world,
    tables: this.tables,
    hits: new Hits(),
    verdict: this.verdict,
    now: () => this.world.now,
    keepMs: null,
  });
  readonly #players: Player[] = [];
  #held: Held[] = [];
  #isOpen = false;
  #crashes = 1;
  #expiries = 1;

  /** Everybody has started, and knows that there is work; nobody has any yet. */
  async open(): Promise<void> {
    const job = task({ name: 'job' }, ({ step }: HandlerContext<unknown>) => step.run('one', () => 1));
    for (let index = 0; index <= WORKERS; index++) {
      const player = new Player(this.world, index);
      this.#players.push(player);
      this.#isOpen = index === WORKERS;
      const opening = (async () => {
        const { clock, random } = player;
        const app = await pawl({
          store: this.#storeFor(player),
          tasks: [job],
          clock,
          random,
          log: SILENT,
          alerts: false,
        });
        if (index < WORKERS)
          await app.work({
            concurrency: 1,
            workerId: `w${index}`,
            lease: LEASE_MS,
            poll: '1d',
            stopOnSignal: false,
          });
        else for (let count = 0; count < JOBS; count++) await app.start(job, count);
      })();
      let isThrough = false;
      const through = () => (isThrough = true);
      opening.then(through, through);
      await this.#settle();
      // Waited for, it would never come: nothing is left that could happen.
      if (!isThrough) throw new Error(`player ${index} stands still before the first move`);
      await opening;
    }
  }

  enabled(): Move[] {
    const alive = this.#players.slice(0, WORKERS).filter(({ host }) => !host.isDead);
    return [
      ...this.#held.map((held): Move => ({ do: 'call', held })),
      ...alive.filter((player) => player.isDue).map((player): Move => ({ do: 'timers', player })),
      ...(this.#crashes > 0 ? alive.map((player): Move => ({ do: 'crash', player })) : []),
      ...(this.#expiries > 0 ? [{ do: 'expire' } as const] : []),
    ];
  }

  async take(move: Move): Promise<void> {
    this.moves += 1;
    switch (move.do) {
      case 'call':
        this.#held = this.#held.filter((held) => held !== move.held);
        await this.#execute(move.held);
        break;
      case 'timers':
        move.player.fire();
        break;
      case 'crash':
        this.#crashes -= 1;
        move.player.host.crash();
        // A claim is decided on by the process itself.
        this.#held = this.#held.filter(({ player, call }) => player !== move.player || call.name !== 'claim');
        break;
      case 'expire':
        this.#expiries -= 1;
        this.world.now += LEASE_MS;
        break;
    }
    await this.#settle();
  }

  /** All that what happens from here on depends on. A process is what it has been told, in order. */
  hash(): string {
    const jobs = [...this.tables.jobs.values()].map(({ log, row }) => [
      log.at(-1)?.link,
      row.status,
      row.attemptId,
    ]);
    const leases = [...this.tables.leases.values()].map(({ worker, leaseUntil, dead }) => [
      worker.incarnation,
      leaseUntil,
      dead,
    ]);
    const held = this.#held.map(({ player, call, order }) => [player.host.index, call.name, order]);
    const players = this.#players.map(({ told, host }) => [told, host.isDead]);
    return sha256(
      JSON.stringify([this.world.now, this.#crashes, this.#expiries, jobs, leases, held, players]),
    );
  }

  #storeFor(player: Player): Store {
    const names = Object.keys(this.#store) as (keyof Store)[];
    const link = Object.fromEntries(
      names.map((name) => [
        name,
        (...asked: unknown[]) => this.#send(player, { host: player.host, name, asked }),
      ]),
    );
    return {
      ...link,
      wake: (lanes: readonly string[]) => this.#wake(lanes),
      listen: (hear: (lanes: readonly string[]) => void) => player.listen(hear),
      close: async () => undefined,
    } as unknown as Store;
  }

  #send(player: Player, call: Call): Promise<unknown> {
    return new Promise((answer) => {
      const held: Held = { call, player, order: player.nextOrder(), answer };
      if (this.#isOpen && player.host.index < WORKERS && !IDLE_CALLS.has(call.name)) this.#held.push(held);
      else this.world.schedule(0, null, EAGER, () => void this.#execute(held));
    });
  }

  async #execute({ call, player, answer }: Held): Promise<void> {
    const method = this.#store[call.name] as (...asked: unknown[]) => Promise<unknown>;
    const replied = method(...call.asked);
    this.#watch.look(call);
    const reply = await replied;
    if (player.host.isDead) return;
    player.hear(`${call.name} ${JSON.stringify(reply)}`);
    answer(reply);
  }

  #wake(lanes: readonly string[]): void {
    for (const player of this.#players) {
      if (player.host.isDead) continue;
      this.world.schedule(0, null, EAGER, () => player.wake(lanes));
    }
  }

  /** Until nothing is left that needs no move. */
  async #settle(): Promise<void> {
    await this.world.run(() => false);
  }
}

const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
