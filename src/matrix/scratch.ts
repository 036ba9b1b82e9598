import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Session } from '../stores/postgres/session.js';

/** Fresh files beside a given one, or fresh databases on its server: never what the address itself holds. */
export type Scratch = {
  create(): Promise<ScratchData>;
  /** When nothing of it is needed any more. */
  remove(): Promise<void>;
};

export type ScratchData = {
  readonly url: string;
  /** Breaks every connection to it. Files have none. */
  readonly cut?: () => Promise<void>;
  remove(): Promise<void>;
};

/** `name`: what it is for, as it shows in names of files and databases if they are ever left behind. */
export function scratchFiles(path: string, name: string): Scratch {
  const folder = mkdtempSync(join(dirname(resolve(path)), `.pawl-${name}-`));
  let files = 0;
  return {
    create: async () => ({
      url: `sqlite:${join(folder, `${files++}.db`)}`,
      remove: async () => undefined,
    }),
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

export function scratchDatabases(url: string, name: string): Scratch {
  const server = new Session({ url });
  let databases = 0;
  return {
    remove: () => server.close(),
    async create() {
      const database = `pawl_${name}_${process.pid}_${databases++}`;
      await server.single.rows(`CREATE DATABASE ${database}`);
      return {
        url: Object.assign(new URL(url), { pathname: `/${database}` }).toString(),
        async cut() {
          await server.single.rows(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
            [database],
          );
        },
        async remove() {
          await server.single.rows(`DROP DATABASE ${database} WITH (FORCE)`);
        },
      };
    },
  };
}
