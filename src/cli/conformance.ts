import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseStoreUrl } from '../client/open-store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { postgresStore } from '../stores/postgres/postgres-store.js';
import { Session } from '../stores/postgres/session.js';
import { sqliteStore } from '../stores/sqlite/sqlite-store.js';
import { Rig, STORE_CONFORMANCE, type OpenStore } from '../testkit/conformance/index.js';
import { print, type Console } from './console.js';
import { CHECK_FAILED } from './exit-code.js';

export type ConformanceOptions = {
  readonly store: string;
  readonly topic: string | null;
  readonly json: boolean;
};

type Result = {
  readonly topic: string;
  readonly title: string;
  readonly ok: boolean;
  readonly problem: string;
};

/** Runs what every store must do, on this very disk or server, in scratch files or databases that are removed again. */
export async function conformance(
  console: Console,
  { store: url, topic: only, json }: ConformanceOptions,
): Promise<number> {
  const scratch = scratchOf(url);
  const results: Result[] = [];
  try {
    for (const { name: topic, cases } of STORE_CONFORMANCE.filter(
      ({ name }) => only === null || name === only,
    )) {
      for (const [title, run] of Object.entries(cases)) {
        const problem = await scratch.use((open) => outcomeOf(open, run));
        results.push({ topic, title, ok: problem === '', problem });
        if (!json)
          console.out(
            `${problem === '' ? 'ok  ' : 'FAIL'} ${topic}: ${title}${problem && `\n     ${problem}`}\n`,
          );
      }
    }
  } finally {
    await scratch.remove();
  }
  const failed = results.filter(({ ok }) => !ok).length;
  const data = { passed: results.length - failed, failed, results };
  print(console, { json, data, text: `${data.passed} passed, ${failed} failed` });
  return failed === 0 && results.length > 0 ? 0 : CHECK_FAILED;
}

async function outcomeOf(open: OpenStore, run: (rig: Rig) => Promise<void>): Promise<string> {
  const rig = await Rig.start(open);
  try {
    await run(rig);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rig.stop();
  }
}

/** Fresh data for each case, never what the address itself holds. */
type Scratch = {
  use<T>(work: (open: OpenStore) => Promise<T>): Promise<T>;
  remove(): void | Promise<void>;
};

function scratchOf(url: string): Scratch {
  const { kind, path } = parseStoreUrl(url);
  if (kind === 'memory') {
    return {
      remove: () => undefined,
      use: (work) => {
        let shared: ReturnType<typeof memoryStore> | undefined;
        return work(async ({ clock }) => (shared ??= memoryStore({ clock })));
      },
    };
  }
  return kind === 'sqlite' ? scratchFiles(path) : scratchDatabases(url);
}

function scratchFiles(path: string): Scratch {
  const folder = mkdtempSync(join(dirname(resolve(path)), '.pawl-conformance-'));
  let files = 0;
  return {
    remove: () => rmSync(folder, { recursive: true }),
    use: (work) => {
      const file = join(folder, `${files++}.db`);
      return work(({ clock }) => sqliteStore({ path: file, clock }));
    },
  };
}

function scratchDatabases(url: string): Scratch {
  const server = new Session({ url });
  let databases = 0;
  return {
    remove: () => server.close(),
    async use(work) {
      const name = `pawl_conformance_${process.pid}_${databases++}`;
      await server.single.rows(`CREATE DATABASE ${name}`);
      const scratch = Object.assign(new URL(url), { pathname: `/${name}` }).toString();
      try {
        return await work(({ clock }) => postgresStore({ url: scratch, clock, now: () => clock.now() }));
      } finally {
        await server.single.rows(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    },
  };
}
