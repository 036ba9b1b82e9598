import type pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import type { Loaded } from '../../ports/store.js';
import { RecentJobs } from '../recent-jobs.js';
import { Connections, type Bounded } from './connections.js';
import { LockWaits } from './lock-waits.js';
import { isSilence, mayTryAgain, storeError } from './server-error.js';
import { takeSilence } from './silence.js';
import { SincePurge } from './since-purge.js';
import { ask, gather, nameOf, types } from './statement.js';
import { followed, whole, type Asked, type Wire, type Notice } from './whole.js';

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

/** How often a transaction is tried that the server gave up, or whose outcome is unknown. */
const TRIES = 5;

/** What a transaction comes to once its last statements are done: they have been sent. */
export type Ending<T> = { readonly answer: T; readonly last: Promise<unknown> | null };

export type SessionOptions = {
  readonly url: string;
  /** For what is used for long: connections that nobody uses are closed after a while. */
  readonly clock?: Pick<Clock, 'after'>;
  /** Replaces the server's clock, for tests that move time themselves. */
  readonly now?: (() => number) | undefined;
  /** How many bytes of jobs to remember, so that claims need not read them again. 0 for none. */
  readonly rememberBytes?: number;
};

/** Connections for what goes by keys, for all kinds of reads, and for what may have to wait for someone else's transaction. */
const MOST_KEYED = 4;
const MOST_READING = 4;
const MOST_CAREFUL = 4;
/** For transactions that the application writes in. What its bodies wait for may be a commit that needs one of the others. */
const MOST_LENT = 4;
/** For heartbeats alone. Opened with the first of them: whoever only asks has none. */
const MOST_LEASING = 1;
/** For counting and listing jobs by indexes. Who looks on from many windows at once takes no connection away from commits. */
const MOST_LOOKING_ON = 2;

/**
 * Connections to one database. `?prepare=false` in the address is for poolers that do not know prepared statements:
 * none are used then, and no connection is kept for listening.
 */
export class Session {
  readonly #keyed: Connections;
  readonly #reading: Connections;
  readonly #careful: Connections;
  readonly #lent: Connections;
  readonly #leasing: Connections;
  readonly #lookingOn: Connections;
  readonly #clock: (() => number) | undefined;
  readonly #wire: Wire = {
    ask: (client, asked) => this.#ask(client, asked),
    say: (client, text) => this.say(client, text),
  };
  readonly #prepares: boolean;
  readonly url: string;
  readonly silenceMs: number;
  readonly recent: RecentJobs<Pick<Loaded, 'job' | 'link'>>;
  readonly sincePurge = new SincePurge();
  /** Who waits, in the careful lane, for what another transaction holds. */
  readonly waits: LockWaits;
  /** Single statements on lists of rows, each a transaction of its own with plans that go by keys. */
  readonly listed: Queries;
  /** Single statements, each a transaction of its own. One whose connection broke is sent again. */
  readonly single: Queries;
  /** Single statements for those who look on. They go by indexes, though the server may still take a table for what it was an hour ago. */
  readonly watched: Queries;

  constructor({ url, clock, now, rememberBytes }: SessionOptions) {
    this.recent = new RecentJobs(rememberBytes);
    const address = new URL(url);
    this.#prepares = address.searchParams.get('prepare') !== 'false';
    address.searchParams.delete('prepare');
    this.silenceMs = takeSilence(address);
    this.waits = new LockWaits(this);
    this.url = address.toString();
    // Hours that a test lets pass in a moment are none in which a connection was not used.
    const shared = { url: this.url, silenceMs: this.silenceMs, clock: now ? null : (clock ?? null) };
    this.#keyed = new Connections({ ...shared, max: MOST_KEYED, isKeyed: true });
    this.#reading = new Connections({ ...shared, max: MOST_READING, isKeyed: false });
    this.#careful = new Connections({ ...shared, max: MOST_CAREFUL, isKeyed: false, areEnclosed: true });
    this.#lent = new Connections({
      ...shared,
      max: MOST_LENT,
      isKeyed: false,
      areEnclosed: true,
      arePipelined: false,
    });
    this.#leasing = new Connections({ ...shared, max: MOST_LEASING, isKeyed: true });
    this.#lookingOn = new Connections({ ...shared, max: MOST_LOOKING_ON, isKeyed: true });
    this.#clock = now;
    this.listed = this.#queries((asked) => this.#persist(() => whole(this.#wire, this.#keyed, asked)));
    this.single = this.#queries((asked) => this.#persist(() => whole(this.#wire, this.#reading, asked)));
    this.watched = this.#queries((asked) => this.#persist(() => whole(this.#wire, this.#lookingOn, asked)));
  }

  /** Like `listed`, for one statement. Nobody waits for the notice, which travels right behind it. */
  listedWith(notice: Notice): Queries {
    return this.#queries((asked) => this.#persist(() => followed(this.#wire, this.#keyed, asked, notice)));
  }

  get listens(): boolean {
    return this.#prepares;
  }

  /**
   * Runs `work` as one transaction. One that the server gave up, or whose connection broke, is sent again as it was:
   * commits are recognised by their command, so a COMMIT that had succeeded unseen is not made twice.
   */
  transaction<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#attempt(this.#keyed, this.#with(work)));
  }

  /** The same, for work that does not wait for its last statements: COMMIT travels right behind them. */
  ending<T>(work: (db: Queries) => Promise<Ending<T>>): Promise<T> {
    return this.#persist(() => this.#attemptEnding(this.#keyed, this.#with(work)));
  }

  /** A transaction whose statements may take as long as they like, or wait for others as long. */
  patient<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    const unbounded = (client: pg.PoolClient) =>
      work(this.#queries((asked) => this.#ask(client, asked, { isPatient: true })));
    return this.#persist(() => this.#attempt(this.#keyed, unbounded));
  }

  /** A transaction that may wait long for someone else's. It takes no connection away from the others. */
  careful<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#attempt(this.#careful, this.#with(work)));
  }

  /**
   * A transaction that must not wait for its turn. Reads that are slow, or very many, would otherwise cost a worker its
   * lease, and with it everything that it runs, although it is well and the database too.
   */
  leasing<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#attempt(this.#leasing, this.#with(work)));
  }

  /** Statements on a connection that the application owns, within its transaction. */
  within(client: pg.ClientBase): Queries {
    return this.#queries(({ sql, values }) => {
      const query = { text: sql, values: values as unknown[], types };
      return this.told(client.query(this.#prepares ? { ...query, name: nameOf(sql) } : query).then(rowsOf));
    });
  }

  /** The same on a connection of ours. */
  own(client: pg.PoolClient): Queries {
    return this.#queries((asked) => this.told(this.#ask(client, asked)));
  }

  /** Statements of ours without values, such as COMMIT, on a connection of ours. What follows at once travels with them. */
  async say(client: pg.PoolClient, text: string): Promise<void> {
    gather(client);
    await ask(client, { name: null, text, values: [], isPatient: false });
  }

  /** A connection for a transaction of the application, which may take long. */
  connect(): Promise<pg.PoolClient> {
    return this.told(this.#lent.connect());
  }

  /** What `connect` has given. */
  release(client: pg.PoolClient, broken: boolean): void {
    this.#lent.release(client, broken);
  }

  /** What the server says no with becomes an error of ours. */
  async told<T>(answer: T | Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw storeError(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((connections) => connections.close()));
  }

  get #all(): readonly Connections[] {
    return [this.#keyed, this.#reading, this.#careful, this.#lent, this.#leasing, this.#lookingOn];
  }

  #with<T>(work: (db: Queries) => Promise<T>): (client: pg.PoolClient) => Promise<T> {
    return (client) =>
      work(
        this.#queries((asked) => {
          gather(client);
          return this.#ask(client, asked);
        }),
      );
  }

  #attempt<T>(connections: Connections, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#attemptEnding(connections, async (client) => ({ answer: await work(client), last: null }));
  }

  /**
   * BEGIN travels with the first statement, so that it costs no round trip of its own; COMMIT with the last ones, if they
   * were not waited for. If one of them fails, the server takes the COMMIT behind it for a rollback.
   */
  async #attemptEnding<T>(
    connections: Connections,
    work: (client: pg.PoolClient) => Promise<Ending<T>>,
  ): Promise<T> {
    const client = await connections.connect();
    let broken = false;
    try {
      const begun = this.say(client, connections.beginOf(client));
      const [{ answer, last }] = await Promise.all([work(client), begun]);
      await Promise.all([last, this.say(client, 'COMMIT')]);
      return answer;
    } catch (error) {
      broken = await this.say(client, 'ROLLBACK').then(
        () => false,
        () => true,
      );
      throw error;
    } finally {
      connections.release(client, broken);
    }
  }

  async #persist<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        // Those that nobody uses may be silent as well, and would be found out one by one.
        if (isSilence(error)) for (const connections of this.#all) connections.distrust();
        if (!mayTryAgain(error) || tries === TRIES) throw storeError(error);
      }
    }
  }

  #ask(
    client: pg.ClientBase,
    { sql, values }: Asked,
    { isPatient = false }: { isPatient?: boolean } = {},
  ): Promise<unknown[]> {
    if (this.#prepares) return ask(client, { name: nameOf(sql), text: sql, values, isPatient });
    const query: Bounded = { text: sql, values: values as unknown[], types };
    return client.query(isPatient ? query : { ...query, query_timeout: this.silenceMs }).then(rowsOf);
  }

  #queries(send: (asked: Asked) => Promise<unknown[]>): Queries {
    const rows = <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
      send({ sql, values }) as Promise<Row[]>;
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

const rowsOf = ({ rows }: pg.QueryResult): unknown[] => rows;
