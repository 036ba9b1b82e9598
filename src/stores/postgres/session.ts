import pg from 'pg';
import type { Loaded } from '../../ports/store.js';
import { RecentJobs } from '../recent-jobs.js';
import { isSilence, mayTryAgain, storeError } from './server-error.js';
import { KEEP_ALIVE, leave, takeSilence } from './silence.js';

/** What SQL is sent through: a connection within a transaction, or any connection for a read. */
export interface Queries {
  /** The store's time, as a reply carries it. */
  now(): Promise<number>;
  /** The time that a test has set; null: the server's clock counts. Statements take it as their first value. */
  fixedNow(): number | null;
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** The store's time within a statement whose first value is `fixedNow()`: read once, so that an index can be asked. */
export const NOW = '(SELECT coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))';

/** A statement that is given up, and its connection with it, once it has not been answered for so long. */
export type Bounded = pg.QueryConfig & { readonly query_timeout?: number };

/** How often a transaction is tried that the server gave up, or whose outcome is unknown. */
const TRIES = 5;

/** Times are whole milliseconds and fit a number exactly. */
const BIGINT = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/**
 * How long a transaction may stand still before the server ends it. A process that is frozen, or cut off, between two
 * statements holds locks that others need to renew their leases and to take its jobs: longer holds them all up. Shorter
 * would end transactions of processes that are merely busy, which then send them again.
 */
const STANDSTILL_MS = 2_000;

/**
 * A plan that was made while a table was small reads all of it for ever after; and a list of a thousand rows is taken
 * for ten. Every statement here finds its rows by a key or in the order of an index, so the server is told to do just
 * that, and to plan once. For this transaction only: a pooler may hand the connection to someone else (bench/store/crowd.ts).
 */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '${STANDSTILL_MS}ms';
  SET LOCAL plan_cache_mode = force_generic_plan;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL enable_bitmapscan = off`;

/** What a transaction comes to once its last statements are done: they have been sent. */
export type Ending<T> = { readonly answer: T; readonly last: Promise<unknown> | null };

export type SessionOptions = {
  readonly url: string;
  /** Replaces the server's clock, for tests that move time themselves. */
  readonly now?: (() => number) | undefined;
  /** How many bytes of jobs to remember, so that claims need not read them again. 0 for none. */
  readonly rememberBytes?: number;
};

/** Connections that most work shares, and those for what may have to wait for someone else's transaction. */
const MOST_CONNECTIONS = 4;
const MOST_CAREFUL = 4;
/** For heartbeats alone. Opened with the first of them: whoever only asks has none. */
const MOST_LEASING = 1;

/**
 * Connections to one database. `?prepare=false` in the address is for poolers that do not know prepared statements:
 * none are used then, and no connection is kept for listening.
 */
export class Session {
  readonly #pool: pg.Pool;
  readonly #carefulPool: pg.Pool;
  readonly #leasePool: pg.Pool;
  readonly #clock: (() => number) | undefined;
  readonly #prepares: boolean;
  /** Connections that nobody uses just now. */
  readonly #idle = new Set<pg.PoolClient>();
  #closing = false;
  readonly url: string;
  readonly silenceMs: number;
  readonly recent: RecentJobs<Pick<Loaded, 'job' | 'link'>>;

  constructor({ url, now, rememberBytes }: SessionOptions) {
    this.recent = new RecentJobs(rememberBytes);
    const address = new URL(url);
    this.#prepares = address.searchParams.get('prepare') !== 'false';
    address.searchParams.delete('prepare');
    this.silenceMs = takeSilence(address);
    this.url = address.toString();
    this.#pool = this.#poolOf(MOST_CONNECTIONS);
    this.#carefulPool = this.#poolOf(MOST_CAREFUL);
    this.#leasePool = this.#poolOf(MOST_LEASING);
    this.#clock = now;
  }

  get listens(): boolean {
    return this.#prepares;
  }

  /** Single statements on lists of rows, each a transaction of its own with plans that go by keys. */
  get listed(): Queries {
    return this.#queries((query) => this.#persist(() => this.#alone(query)));
  }

  /** Single statements, each a transaction of its own. One whose connection broke is sent again. */
  get single(): Queries {
    return this.#queries((query) => this.#persist(() => this.#pool.query(this.#bounded(query))));
  }

  /**
   * Runs `work` as one transaction. One that the server gave up, or whose connection broke, is sent again as it was:
   * commits are recognised by their command, so a COMMIT that had succeeded unseen is not made twice.
   */
  transaction<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#attempt(this.#pool, this.#with(work)));
  }

  /** The same, for work that does not wait for its last statements: COMMIT travels right behind them. */
  ending<T>(work: (db: Queries) => Promise<Ending<T>>): Promise<T> {
    return this.#persist(() => this.#attemptEnding(this.#pool, this.#with(work)));
  }

  /** A transaction whose statements may take as long as they like, or wait for others as long. */
  patient<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    const unbounded = (client: pg.PoolClient) => work(this.#queries((query) => client.query(query)));
    return this.#persist(() => this.#attempt(this.#pool, unbounded));
  }

  /** A transaction that may wait long for someone else's. It takes no connection away from the others. */
  careful<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#attempt(this.#carefulPool, this.#with(work)));
  }

  /**
   * A transaction that must not wait for its turn. Reads that are slow, or very many, would otherwise cost a worker its
   * lease, and with it everything that it runs, although it is well and the database too.
   */
  leasing<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#attempt(this.#leasePool, this.#with(work)));
  }

  /** Statements on a connection that the application owns, within its transaction. */
  within(client: pg.ClientBase): Queries {
    return this.#queries((query) => this.told(client.query(query)));
  }

  /** The same on a connection of ours. */
  own(client: pg.PoolClient): Queries {
    return this.#queries((query) => this.told(client.query(this.#bounded(query))));
  }

  /** One statement of ours, such as COMMIT, on a connection of ours. */
  async say(client: pg.PoolClient, text: string): Promise<void> {
    await client.query(this.#bounded({ text }));
  }

  /** A connection for a transaction of its own, which may take long. */
  connect(): Promise<pg.PoolClient> {
    return this.told(this.#carefulPool.connect());
  }

  /** What the server says no with becomes an error of ours. */
  async told<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Says farewell without waiting for an answer, which might never come. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#pool.end(), this.#carefulPool.end(), this.#leasePool.end()]);
    this.#closing = true;
    for (const client of this.#idle) leave(client);
    await ended;
  }

  #with<T>(work: (db: Queries) => Promise<T>): (client: pg.PoolClient) => Promise<T> {
    return (client) => work(this.#queries((query) => client.query(this.#bounded(query))));
  }

  #attempt<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#attemptEnding(pool, async (client) => ({ answer: await work(client), last: null }));
  }

  /**
   * BEGIN travels with the first statement, so that it costs no round trip of its own; COMMIT with the last ones, if they
   * were not waited for. If one of them fails, the server takes the COMMIT behind it for a rollback.
   */
  async #attemptEnding<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Ending<T>>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      const begun = this.say(client, BEGIN);
      const [{ answer, last }] = await Promise.all([work(client), begun]);
      await Promise.all([last, this.say(client, 'COMMIT')]);
      return answer;
    } catch (error) {
      broken = await this.say(client, 'ROLLBACK').then(
        () => undefined,
        (failure: Error) => failure,
      );
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** All of it travels together: if the statement fails, the server takes the COMMIT behind it for a rollback. */
  async #alone(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = await this.#pool.connect();
    const [, result, ended] = await Promise.allSettled([
      this.say(client, BEGIN),
      client.query(this.#bounded(query)),
      this.say(client, 'COMMIT'),
    ]);
    client.release(ended.status === 'rejected');
    if (result.status === 'rejected') throw result.reason;
    if (ended.status === 'rejected') throw ended.reason;
    return result.value;
  }

  async #persist<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (isSilence(error)) this.#distrust();
        if (!mayTryAgain(error) || tries === TRIES) throw storeError(error);
      }
    }
  }

  /** One connection went silent: those that nobody uses may have as well, and would be found out one by one. */
  #distrust(): void {
    for (const client of this.#idle) leave(client);
    this.#idle.clear();
  }

  #bounded(query: pg.QueryConfig): Bounded {
    return { ...query, query_timeout: this.silenceMs };
  }

  #poolOf(max: number): pg.Pool {
    const pool = new pg.Pool({
      connectionString: this.url,
      max,
      application_name: 'pawl',
      pipeline: true,
      connectionTimeoutMillis: this.silenceMs,
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
    return pool;
  }

  #queries(send: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Queries {
    const rows = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
      const query = { text: sql, values: [...values], types };
      return (await send(this.#prepares ? { ...query, name: nameOf(sql) } : query)).rows as Row[];
    };
    const fixedNow = (): number | null => this.#clock?.() ?? null;
    const now = async (): Promise<number> => {
      const fixed = fixedNow();
      if (fixed !== null) return fixed;
      const [row] = await rows<{ now: number }>(`SELECT ${NOW} AS now`, [null]);
      return row?.now ?? 0;
    };
    return { now, fixedNow, rows };
  }
}

const names = new Map<string, string>();

/** Statements are prepared once per connection; the server wants a short name for each. */
function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `pawl_${names.size}`;
    names.set(sql, name);
  }
  return name;
}
