import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ask, startPostgres, type PostgresServer } from '../../test/postgres-server.js';

export type StoreKind = 'memory' | 'sqlite' | 'postgres';

/** What decides how much a commit costs. */
const SETTINGS = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method'];

/** Databases for one measurement each, and gone after it. */
export class Databases {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  #server: PostgresServer | null = null;
  #made = 0;

  /** Two that nobody else uses. Postgres starts from a checkpoint, so that none falls on whoever comes by chance. */
  async pair(store: StoreKind): Promise<[string, string]> {
    const pair: [string, string] = [await this.#one(store), await this.#one(store)];
    if (store === 'postgres') await ask(pair[0], 'CHECKPOINT');
    return pair;
  }

  async drop(urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      if (url.startsWith('sqlite:')) {
        for (const end of ['', '-wal', '-shm']) rmSync(url.slice(7) + end, { force: true });
      } else if (url.startsWith('postgres')) {
        const name = new URL(url).pathname.slice(1);
        await ask(
          Object.assign(new URL(url), { pathname: '/postgres' }).toString(),
          `DROP DATABASE ${name} WITH (FORCE)`,
        );
      }
    }
  }

  /** The server's settings that count, as it tells them. */
  async postgresSettings(): Promise<string> {
    const [url] = await this.pair('postgres');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const shown: string[] = [];
    for (const name of SETTINGS) {
      const { rows } = await client.query<Record<string, string>>(`SHOW ${name}`);
      shown.push(`${name} ${Object.values(rows[0] ?? {})[0]}`);
    }
    await client.end();
    return shown.join(', ');
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async #one(store: StoreKind): Promise<string> {
    if (store === 'memory') return 'memory:';
    if (store === 'sqlite') return `sqlite:${join(this.#folder, `${this.#made++}.db`)}`;
    this.#server ??= await startPostgres();
    return this.#server.createDatabase();
  }
}
