import { parseOwnStoreUrl } from '../../client/open-store.js';
import { scratchDatabases, scratchFiles } from '../../matrix/scratch.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { postgresStore } from '../../stores/postgres/postgres-store.js';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.js';
import { lostConnection, Rig, STORE_CONFORMANCE, type OpenStore } from '../../testkit/conformance/index.js';
import { storeOf } from '../config/settings.js';
import { print } from '../console.js';
import { crashTest } from '../crash-test.js';
import { CHECK_FAILED } from '../exit-code.js';
import { expectRoom } from '../expect-room.js';
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
  const { kind, path } = parseOwnStoreUrl(url);
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
  expectRoom(url);
  const scratch =
    kind === 'sqlite' ? scratchFiles(path, 'conformance') : scratchDatabases(url, 'conformance');
  return {
    persistent: true,
    connects: kind === 'postgres',
    remove: () => scratch.remove(),
    async use(work) {
      const data = await scratch.create();
      try {
        const { cut } = data;
        const open = openerOf(kind, data.url);
        return await work({ url: data.url, open: cut ? Object.assign(open, { cut }) : open });
      } finally {
        await data.remove();
      }
    },
  };
}

function openerOf(kind: 'sqlite' | 'postgres', url: string): OpenStore {
  if (kind === 'sqlite') return ({ clock }) => sqliteStore({ path: parseOwnStoreUrl(url).path, clock });
  return ({ clock }) => postgresStore({ url, clock, now: () => clock.now() });
}
