import pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import { cut, KEEP_ALIVE, leave } from './silence.js';
import { giveUpIfSilent } from './statement.js';

/** A statement that is given up, and its connection with it, once it has not been answered for so long. */
export type Bounded = pg.QueryConfig & { readonly query_timeout?: number };

/**
 * How long a transaction may stand still before the server ends it. A process that is frozen, or cut off, between two
 * statements holds locks that others need to renew their leases and to take its jobs: longer holds them all up. Shorter
 * would end transactions of processes that are merely busy, which then send them again.
 */
const STANDSTILL_MS = 2_000;

/**
 * A plan that was made while a table was small reads all of it for ever after; and a list of a thousand rows is taken
 * for ten. Statements that find their rows by a key or in the order of an index are planned to do just that, and
 * planned once (bench/store/crowd.ts). A guess at what they cost must not have the server compile them, which takes longer
 * than any of them.
 */
const SETTINGS = [
  `idle_in_transaction_session_timeout = '${STANDSTILL_MS}ms'`,
  'plan_cache_mode = force_generic_plan',
  'jit = off',
  ...['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan'].map((way) => `enable_${way} = off`),
];
/**
 * A fence gets a lock and then looks at what was saved before: it has to see all of that. With a snapshot for the whole
 * transaction, which may be the default of a database or a user, it would not. A statement that is its own transaction has one
 * snapshot on any level; but where it would wait for a row and look again, the server gives it up on the others, and it is sent again.
 */
const LEVEL = 'READ COMMITTED';
const BEGIN = [`BEGIN ISOLATION LEVEL ${LEVEL}`, ...SETTINGS.map((setting) => `SET LOCAL ${setting}`)].join(
  '; ',
);
const SETTLE_LEVEL = `SET default_transaction_isolation = '${LEVEL}'`;
const SETTLE = [SETTLE_LEVEL, ...SETTINGS.map((setting) => `SET ${setting}`)].join('; ');

export type ConnectionsOptions = {
  readonly url: string;
  readonly max: number;
  readonly silenceMs: number;
  /** Whether only statements of ours that go by keys are sent here. */
  readonly isKeyed: boolean;
  /** Nothing is sent here but within transactions that say themselves what they need. */
  readonly areEnclosed?: boolean;
  /** Whether statements are sent before those ahead of them are answered. Cursors and streams of an application need its connection to themselves. */
  readonly arePipelined?: boolean;
  /** Without one, connections that nobody uses stay open. */
  readonly clock: Pick<Clock, 'after'> | null;
};

/** How long statements under way may take to end once their store is closed. Whoever closes it has waited for what matters. */
const LAST_MS = 1_000;

/** How often it is looked which connections nobody has used since: those are closed. */
const LOOK_EVERY_MS = 10_000;

/**
 * Connections to one database that are used for the same, by turns. A pool opens and counts them. Those that nobody uses just
 * now are not given back to it: its timers and turns take an eighth of what a step costs this process (decision 39).
 */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #silenceMs: number;
  readonly #isKeyed: boolean;
  readonly #clock: Pick<Clock, 'after'> | null;
  /** Those that nobody uses just now. The last one is the next to be used. */
  readonly #idle: pg.PoolClient[] = [];
  /** How many of them, from the first on, nobody has used since it was last looked. */
  #unused = 0;
  #stopLooking: (() => void) | null = null;
  /** Those that have all of their settings for as long as they last. */
  readonly #settled = new WeakSet<pg.ClientBase>();
  readonly #open = new Set<pg.ClientBase>();
  #closing = false;

  constructor({
    url,
    max,
    silenceMs,
    isKeyed,
    areEnclosed = false,
    arePipelined = true,
    clock,
  }: ConnectionsOptions) {
    this.#silenceMs = silenceMs;
    this.#clock = clock;
    this.#isKeyed = isKeyed;
    // The pool waits for it, although its types do not say so.
    const onConnect = (client: pg.ClientBase): unknown => this.#settle(client);
    const pool = new pg.Pool({
      connectionString: url,
      max,
      application_name: 'pawl',
      pipeline: arePipelined,
      connectionTimeoutMillis: silenceMs,
      ...(areEnclosed ? {} : { onConnect }),
      ...KEEP_ALIVE,
    });
    // A connection that breaks while it is used is noticed by whoever uses it. Here it must only not end the process.
    pool.on('error', () => undefined);
    pool.on('remove', (client) => this.#open.delete(client));
    pool.on('connect', (client) => {
      this.#open.add(client);
      client.on('error', () => this.#drop(client));
      giveUpIfSilent(client, silenceMs);
    });
    this.#pool = pool;
  }

  connect(): pg.PoolClient | Promise<pg.PoolClient> {
    const client = this.#idle.pop();
    this.#unused = Math.min(this.#unused, this.#idle.length);
    return client ?? this.#pool.connect();
  }

  /** Whoever asked the pool for one gets it, else it stays here. */
  release(client: pg.PoolClient, broken: boolean): void {
    if (this.#closing) leave(client);
    if (broken || this.#closing || this.#pool.waitingCount > 0) {
      client.release(broken);
      return;
    }
    this.#idle.push(client);
    this.#lookLater();
  }

  /** How a transaction begins here: with the settings, unless the connection has them. */
  beginOf(client: pg.ClientBase): string {
    return this.#settled.has(client) ? 'BEGIN' : BEGIN;
  }

  /** They end with each transaction here. */
  needsSettings(client: pg.ClientBase): boolean {
    return this.#isKeyed && !this.#settled.has(client);
  }

  /** Those that nobody uses may be as silent as one that was found out. */
  distrust(): void {
    this.#letGo(this.#idle.length);
  }

  /** Says farewell without waiting for an answer, which might never come. What is under way gets a moment to end; then its connection is cut. */
  async close(): Promise<void> {
    const ended = this.#pool.end();
    this.#closing = true;
    this.#stopLooking?.();
    this.distrust();
    if (this.#clock === null) return ended;
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#clock?.after(LAST_MS, () => {
        for (const client of this.#open) cut(client);
        // One that is still being opened ends by itself, in its own time.
        resolve();
      });
      ended.finally(() => cancel?.()).then(resolve, reject);
    });
  }

  /** One that has broken while nobody used it. */
  #drop(client: pg.PoolClient): void {
    const at = this.#idle.indexOf(client);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    if (at < this.#unused) this.#unused -= 1;
    client.release(true);
  }

  #letGo(count: number): void {
    for (const client of this.#idle.splice(0, count)) {
      leave(client);
      client.release(true);
    }
    this.#unused = 0;
  }

  #lookLater(): void {
    if (this.#stopLooking !== null || this.#clock === null) return;
    this.#stopLooking = this.#clock.after(LOOK_EVERY_MS, () => {
      this.#stopLooking = null;
      this.#letGo(this.#unused);
      this.#unused = this.#idle.length;
      if (this.#unused > 0) this.#lookLater();
    });
  }

  /**
   * A pooler may hand what is behind it to someone else after each transaction, so settings must end with it there. It
   * gives itself away by a process that is not the one at the other end. Where there is none, setting them once saves
   * each transaction seven statements, and a statement by itself its BEGIN and COMMIT. Connections that are not for keys
   * are set to their level alone.
   */
  async #settle(client: pg.ClientBase): Promise<void> {
    const ask = (text: string) => client.query({ text, query_timeout: this.#silenceMs } as Bounded);
    const { rows } = await ask('SELECT pg_backend_pid() AS pid');
    const [found] = rows as { pid: number }[];
    if (found?.pid !== (client as pg.ClientBase & { processID?: number }).processID) return;
    await ask(this.#isKeyed ? SETTLE : SETTLE_LEVEL);
    if (this.#isKeyed) this.#settled.add(client);
  }
}
