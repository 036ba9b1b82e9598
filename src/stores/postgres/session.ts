import pg from 'pg';
import { PawlError } from '../../errors.js';

/** What SQL is sent through: a connection within a transaction, or any connection for a read. */
export interface Queries {
  /** The store's time, as a reply carries it. */
  now(): Promise<number>;
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** How often a transaction is tried that the server gave up, or whose outcome is unknown. */
const TRIES = 5;

/** Serialisation failure and deadlock: nothing happened, and the same again may well succeed. */
const GIVEN_UP = new Set(['40001', '40P01']);

/** Times are whole milliseconds and fit a number exactly. */
const BIGINT = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** A pool of connections. `now` replaces the server's clock, for tests that move time themselves. */
export class Session {
  readonly #pool: pg.Pool;
  readonly #clock: (() => number) | undefined;

  constructor({ url, now }: { url: string; now?: (() => number) | undefined }) {
    this.#pool = new pg.Pool({ connectionString: url, max: 4, types });
    // A connection that breaks, idle or in use, is noticed by the next query on it. Here it must only not end the process.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
    this.#clock = now;
  }

  /** Single statements, each a transaction of its own. One whose connection broke is sent again. */
  get single(): Queries {
    const pool = this.#queries(this.#pool);
    return this.#timed((sql, values) => persist(() => pool.rows(sql, values)));
  }

  /**
   * Runs `work` as one transaction. One that the server gave up, or whose connection broke, is sent again as it was:
   * commits are recognised by their command, so a COMMIT that had succeeded unseen is not made twice.
   */
  transaction<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    return persist(() => this.#attempt(work));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #attempt<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await work(this.#queries(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      broken = await client.query('ROLLBACK').then(
        () => undefined,
        (failure: Error) => failure,
      );
      throw error;
    } finally {
      client.release(broken);
    }
  }

  #queries(client: pg.Pool | pg.PoolClient): Queries {
    return this.#timed(
      async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
        (await client.query({ name: nameOf(sql), text: sql, values: [...values] })).rows as Row[],
    );
  }

  #timed(rows: Queries['rows']): Queries {
    const clock = this.#clock;
    const now = async (): Promise<number> => {
      if (clock) return clock();
      const [row] = await rows<{ now: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
      );
      return row?.now ?? 0;
    };
    return { rows, now };
  }
}

async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayTryAgain(error) || tries === TRIES) throw unavailable(error);
    }
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  const lost =
    error instanceof Error && /connection (terminated|is closed|error)|not queryable/i.test(error.message);
  return (
    lost ||
    /^(08|57P0)/.test(code) ||
    ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT'].includes(code)
  );
}

function mayTryAgain(error: unknown): boolean {
  return GIVEN_UP.has(codeOf(error)) || isConnectionFailure(error);
}

function unavailable(error: unknown): unknown {
  const fromServer = error instanceof pg.DatabaseError || isConnectionFailure(error);
  if (!fromServer || !(error instanceof Error)) return error;
  return new PawlError('STORE_UNAVAILABLE', {
    detail: `Postgres: ${error.message || codeOf(error)}`,
    cause: error,
  });
}
