import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseStoreUrl } from '../../client/open-store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { postgresStore } from '../../stores/postgres/postgres-store.js';
import { Session } from '../../stores/postgres/session.js';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.js';
import { lostConnection, Rig, STORE_CONFORMANCE, type OpenStore } from '../../testkit/conformance/index.js';
import { storeOf } from '../config/settings.js';
import { print } from '../console.js';
import { crashTest } from '../crash-test.js';
import { CHECK_FAILED } from '../exit-code.js';
import { choiceOption, command, examples, type Flags, type Register, type Shell } from '../shell.js';

/** The topic that takes processes of its own. */
const CRASH = 'crash';
const TOPICS = [...STORE_CONFORMANCE, lostConnection].map(({ name }) => name).concat(CRASH);
const KILL_ROUNDS = 3;

type Options = Flags & { readonly topic?: string };

export const registerConformance: Register = (program, shell) => {
  const conformance = command(
    program,
    'conformance',
    'Check that a disk or server does what the store needs, in scratch files or databases.',
  )
    .addOption(choiceOption('--topic <name>', 'only one topic', TOPICS))
    .action((options: Options) => shell.ends(checkStore(shell, options)));
  examples(
    conformance,
    'pawl conformance',
    'pawl conformance --topic crash --store sqlite:/mnt/disk/pawl.db',
  );
};

type Result = {
  readonly topic: string;
  readonly title: string;
  readonly ok: boolean;
  readonly problem: string;
};

/** Runs what every store must do, on this very disk or server, in scratch files or databases that are removed again. */
async function checkStore(shell: Shell, options: Options): Promise<number> {
  const { console, self } = shell;
  const { topic: only = null, json = false } = options;
  const url = await storeOf(options, shell);
  const scratch = scratchOf(url);
  const results: Result[] = [];
  const add = (topic: string, title: string, problem: string): void => {
    results.push({ topic, title, ok: problem === '', problem });
    if (!json)
      console.out(
        `${problem === '' ? 'ok  ' : 'FAIL'} ${topic}: ${title}${problem && `\n     ${problem}`}\n`,
      );
  };
  try {
    const topics = scratch.connects ? [...STORE_CONFORMANCE, lostConnection] : STORE_CONFORMANCE;
    for (const { name: topic, cases } of topics.filter(({ name }) => only === null || name === only)) {
      for (const [title, run] of Object.entries(cases)) {
        add(topic, title, await scratch.use(({ open }) => outcomeOf(open, run)));
      }
    }
    if (scratch.persistent && (only === null || only === CRASH)) {
      const { acknowledged, losses } = await scratch.use((data) =>
        crashTest(self, { store: data.url, rounds: KILL_ROUNDS }),
      );
      add(
        CRASH,
        `${acknowledged} commits acknowledged to processes that were killed are all there`,
        losses.join('; '),
      );
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
  /** Whether its data outlive the process. */
  readonly persistent: boolean;
  /** Whether there are connections to lose. */
  readonly connects: boolean;
  use<T>(work: (data: { readonly open: OpenStore; readonly url: string }) => Promise<T>): Promise<T>;
  remove(): void | Promise<void>;
};

function scratchOf(url: string): Scratch {
  const { kind, path } = parseStoreUrl(url);
  if (kind === 'memory') {
    return {
      persistent: false,
      connects: false,
      remove: () => undefined,
      use: (work) => {
        let shared: ReturnType<typeof memoryStore> | undefined;
        // It is gone once it is closed, and several hold it.
        const close = async () => undefined;
        return work({ url, open: async ({ clock }) => ({ ...(shared ??= memoryStore({ clock })), close }) });
      },
    };
  }
  return kind === 'sqlite' ? scratchFiles(path) : scratchDatabases(url);
}

function scratchFiles(path: string): Scratch {
  const folder = mkdtempSync(join(dirname(resolve(path)), '.pawl-conformance-'));
  let files = 0;
  return {
    persistent: true,
    connects: false,
    remove: () => rmSync(folder, { recursive: true }),
    use: (work) => {
      const file = join(folder, `${files++}.db`);
      return work({ url: `sqlite:${file}`, open: ({ clock }) => sqliteStore({ path: file, clock }) });
    },
  };
}

function scratchDatabases(url: string): Scratch {
  const server = new Session({ url });
  let databases = 0;
  return {
    persistent: true,
    connects: true,
    remove: () => server.close(),
    async use(work) {
      const name = `pawl_conformance_${process.pid}_${databases++}`;
      await server.single.rows(`CREATE DATABASE ${name}`);
      const scratch = Object.assign(new URL(url), { pathname: `/${name}` }).toString();
      try {
        const open: OpenStore = ({ clock }) => postgresStore({ url: scratch, clock, now: () => clock.now() });
        const cut = async () => {
          await server.single.rows(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
            [name],
          );
        };
        return await work({ url: scratch, open: Object.assign(open, { cut }) });
      } finally {
        await server.single.rows(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    },
  };
}
