import pg from 'pg';
import { KEEP_ALIVE, leave } from './silence.js';

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
 * planned once (bench/store/crowd.ts).
 */
const SETTINGS = [
  `idle_in_transaction_session_timeout = '${STANDSTILL_MS}ms'`,
  'plan_cache_mode = force_generic_plan',
  ...['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan'].map((way) => `enable_${way} = off`),
];
const BEGIN = ['BEGIN', ...SETTINGS.map((setting) => `SET LOCAL ${setting}`)].join('; ');
const SETTLE = SETTINGS.map((setting) => `SET ${setting}`).join('; ');

export type ConnectionsOptions = {
  readonly url: string;
  readonly max: number;
  readonly silenceMs: number;
  /** Whether only statements of ours that go by keys are sent here. */
  readonly isKeyed: boolean;
};

/** Connections to one database that are used for the same, by turns. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #silenceMs: number;
  /** Those that nobody uses just now. */
  readonly #idle = new Set<pg.PoolClient>();
  /** Those that have their settings for as long as they last. */
  readonly #settled = new WeakSet<pg.ClientBase>();
  #closing = false;

  constructor({ url, max, silenceMs, isKeyed }: ConnectionsOptions) {
    this.#silenceMs = silenceMs;
    // The pool waits for it, although its types do not say so.
    const onConnect = (client: pg.ClientBase): unknown => this.#settle(client);
    const pool = new pg.Pool({
      connectionString: url,
      max,
      application_name: 'pawl',
      pipeline: true,
      connectionTimeoutMillis: silenceMs,
      ...(isKeyed ? { onConnect } : {}),
      ...KEEP_ALIVE,
    });
    // A connection that breaks, idle or in use, is noticed by the next query on it. Here it must only not end the process.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    pool.on('acquire', (client) => this.#idle.delete(client));
    pool.on('remove', (client) => this.#idle.delete(client));
    pool.on('release', (_error, client) => {
      if (this.#closing) leave(client);
      else this.#idle.add(client);
    });
    this.#pool = pool;
  }

  connect(): Promise<pg.PoolClient> {
    return this.#pool.connect();
  }

  /** How a transaction begins here: with the settings, unless the connection has them. */
  beginOf(client: pg.ClientBase): string {
    return this.isSettled(client) ? 'BEGIN' : BEGIN;
  }

  isSettled(client: pg.ClientBase): boolean {
    return this.#settled.has(client);
  }

  /** Those that nobody uses may be as silent as one that was found out. */
  distrust(): void {
    for (const client of this.#idle) leave(client);
    this.#idle.clear();
  }

  /** Says farewell without waiting for an answer, which might never come. */
  async close(): Promise<void> {
    const ended = this.#pool.end();
    this.#closing = true;
    for (const client of this.#idle) leave(client);
    await ended;
  }

  /**
   * A pooler may hand what is behind it to someone else after each transaction, so settings must end with it there. It
   * gives itself away by a process that is not the one at the other end. Where there is none, setting them once saves
   * each transaction six statements, and a statement by itself its BEGIN and COMMIT.
   */
  async #settle(client: pg.ClientBase): Promise<void> {
    const ask = (text: string) => client.query({ text, query_timeout: this.#silenceMs } as Bounded);
    const { rows } = await ask('SELECT pg_backend_pid() AS pid');
    const [found] = rows as { pid: number }[];
    if (found?.pid !== (client as pg.ClientBase & { processID?: number }).processID) return;
    await ask(SETTLE);
    this.#settled.add(client);
  }
}
