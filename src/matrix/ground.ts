import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, parseStoreUrl } from '../client/open-store.js';
import { pawl, type Pawl } from '../client/pawl.js';
import { systemClock } from '../client/system-clock.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/store.js';
import { openDatabase } from '../stores/sqlite/driver.js';
import { TcpProxy } from './tcp-proxy.js';
import type { Scratch } from './scratch.js';

/** How a server is stopped and started again: by whoever owns it. */
export type ServerControl = { stop(): Promise<void>; start(): Promise<void> };

/** A store of its own for one trial, as the matrix sees it: by itself, and through an application that runs no jobs. */
export type Ground = {
  readonly kind: 'sqlite' | 'postgres';
  readonly url: string;
  readonly store: Store;
  readonly app: Pawl;
  /** For the witness and other files of the trial. */
  readonly folder: string;
  /** Null: nobody here may stop the server. */
  readonly control: ServerControl | null;
  /** The same store by a way that can be cut. */
  behindProxy(): Promise<{ readonly url: string; readonly proxy: TcpProxy }>;
  /** Does a process, which may be frozen, keep all others from writing? Only a file has such a lock. */
  isLocked(): Promise<boolean>;
  /** What is wrong with the file itself; null: nothing, or there is none. */
  damage(): Promise<string | null>;
  close(): Promise<void>;
};

const POSTGRES_PORT = 5_432;
/** Ways to connect on which nobody looks whose name is in the certificate. */
const UNCHECKED: ReadonlySet<string | null> = new Set([null, 'disable', 'no-verify']);

/** Why no proxy can stand before a server; null: it can. */
export function whyNoProxy(url: string): string | null {
  const { hostname, searchParams } = new URL(url);
  if (hostname === '' || searchParams.has('host'))
    return 'its address names no host that a proxy could stand before';
  return UNCHECKED.has(searchParams.get('sslmode'))
    ? null
    : 'its certificate is checked against its name, which a proxy does not have: use sslmode=no-verify';
}

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export async function openGround(scratch: Scratch, control: ServerControl | null): Promise<Ground> {
  const data = await scratch.create();
  const { url } = data;
  const { kind, path } = parseStoreUrl(url);
  const folder = mkdtempSync(join(tmpdir(), 'pawl-matrix-'));
  const store = await openStore(url, { clock: systemClock });
  const app = await pawl({ store, tasks: [], log: silent, alerts: false });
  const proxies: TcpProxy[] = [];
  return {
    kind: kind === 'sqlite' ? 'sqlite' : 'postgres',
    url,
    store,
    app,
    folder,
    control,
    async behindProxy() {
      const { hostname, port } = new URL(url);
      const proxy = new TcpProxy({ host: hostname, port: Number(port || POSTGRES_PORT) });
      proxies.push(proxy);
      const own = { hostname: '127.0.0.1', port: String(await proxy.open()) };
      return { proxy, url: Object.assign(new URL(url), own).toString() };
    },
    isLocked: async () => kind === 'sqlite' && isLocked(path),
    damage: async () => (kind === 'sqlite' ? damageOf(path) : null),
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await app.close();
      await data.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isLocked(path: string): Promise<boolean> {
  const database = await openDatabase(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

async function damageOf(path: string): Promise<string | null> {
  const database = await openDatabase(path);
  try {
    const { integrity_check: found } = database.prepare('PRAGMA integrity_check').get() ?? {};
    return found === 'ok' ? null : `the file is damaged: ${String(found)}`;
  } finally {
    database.close();
  }
}
