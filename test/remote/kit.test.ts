import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { FakeClock } from '../../src/testkit/index.js';
import { lostConnection, prng, Rig, STORE_CONFORMANCE, type OpenStore } from '../../src/testkit/index.js';
import type { Store } from '../../src/ports/store.js';
import { httpStore } from '../../src/stores/http/http-store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';
import { LONG } from '../long-mode.js';
import { groundOn, sqliteUrl } from './ground.js';
import { LossyProxy } from './lossy-proxy.js';
import { throughServer } from './through-server.js';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const STORES: Readonly<Record<string, (clock: FakeClock) => Promise<Store>>> = {
  memory: async (clock) => memoryStore({ clock }),
  sqlite: (clock) => sqliteStore({ path: sqliteUrl().slice('sqlite:'.length), clock }),
  postgres: async (clock) =>
    postgresStore({ url: await postgres.createDatabase(), clock, now: () => clock.now() }),
};

/** The topics that a remote worker is held to. */
const TOPICS = [
  'fencing',
  'effects',
  'inbox',
  'claims',
  'leases',
  'wake-ups',
  'lost replies',
  'lost connection',
];

/**
 * Cases of these topics that are about more than one tenant, or about what only those do who stand beside the store. A remote
 * worker has one tenant, that of its key: the other tenants' cases are told by tenants.test.ts.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'JOB-14 tenants take turns: a noisy one cannot starve the rest': 'a key has one tenant',
  'the turn goes on where the last claim ended': 'a key has one tenant',
  'a claim for one tenant takes nobody else’s, and is not held up by them': 'a key has one tenant',
  'DEC-5 a worker that comes back under its id ends its earlier incarnation at once, and never a later one':
    'its workers have names that no key gives',
  'what commits bring along goes with them: of those that another connection came before nothing stays':
    'its server makes the mail and the dead letters itself',
};

/** A way to the server that can be cut. */
async function wayTo(target: string): Promise<Way> {
  const proxy = new LossyProxy(target);
  onTestFinished(() => proxy.close());
  return { url: await proxy.open(), cut: () => proxy.cut() };
}

type Way = { readonly url: string; readonly cut: () => void };

/** The server's own store is held to the kit elsewhere: one that is quick, and one on a disk, are enough here. */
const CHOSEN = Object.entries(STORES).filter(([name]) => LONG || name !== 'postgres');

describe.each(CHOSEN)('the kit through a server on %s', (_, open) => {
  const topics = [...STORE_CONFORMANCE, lostConnection].filter(({ name }) => TOPICS.includes(name));
  test('every topic is there', () => expect(topics.length).toBe(TOPICS.length));

  for (const { name, cases } of topics) {
    describe(name, () => {
      for (const [title, run] of Object.entries(cases).filter(([known]) => !(known in ELSEWHERE))) {
        test(title, async () => {
          let under = '';
          let own: Promise<Store> | null = null;
          let ground: ReturnType<typeof groundOn> | null = null;
          let key: Promise<string> | null = null;
          const sent: Map<string, number>[] = [];
          let way: Promise<Way> | null = null;
          const connect: OpenStore = async ({ clock }) => {
            // Its time is that of the case, from the first answer on.
            own ??= open(clock).then((store) => ({ ...store, close: async () => undefined }));
            ground ??= groundOn(await own, { clock, random: prng(1), upkeep: false });
            const { serving, key: newKey } = await ground;
            key ??= newKey();
            way ??= wayTo(serving.url);
            const { store, session } = await httpStore({ url: (await way).url, key: await key, clock });
            under = session.namedUnder;
            const both = throughServer(store, await own);
            sent.push(both.sent);
            return both.store;
          };
          const cut = async () => (await way)?.cut();
          const rig = await Rig.start(Object.assign(connect, { cut }), {
            workerId: (worker) => `${under}${worker}`,
          });
          onTestFinished(() => rig.stop());
          await run(rig);
          expect(sent.some(({ size }) => size > 0)).toBe(true);
        });
      }
    });
  }
});
