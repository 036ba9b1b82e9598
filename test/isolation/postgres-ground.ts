import pg from 'pg';
import type { Store } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { fakeClock } from '../../src/testkit/index.js';
import type { PostgresServer } from '../postgres-server.js';
import { perform, stateOf } from './act.js';
import { CommitGate } from './commit-gate.js';
import { until, type Ground, type Outcome, type Pair, type Race } from './ground.js';
import { NOW } from './situation.js';

/** A group of commits waits for a row only this long, and then its items go singly: they wait once more. */
const GROUP_STATEMENT = 'WITH patience';

/** Well above that time. A group that waits on is released all the same: stalled-start.test.ts is about those. */
const PATIENT_FOR_MS = 600;

/** A database with two stores: the first operation goes through the gate, the second straight to the server. */
export async function postgresGround(server: PostgresServer): Promise<Ground> {
  const url = await server.createDatabase();
  const watcher = new pg.Client({ connectionString: url });
  await watcher.connect();
  // Who waits for whom is the same; only the disk is not waited for.
  await watcher.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  const { gate, url: throughGate } = await CommitGate.inFrontOf(url);
  const open = (address: string, rememberBytes?: number): Promise<Store> =>
    postgresStore({
      url: address,
      clock: fakeClock(NOW),
      now: () => NOW,
      ...(rememberBytes === undefined ? {} : { rememberBytes }),
    });
  const direct = await open(url);
  // Each pair begins by wiping the tables, and makes the same job at the same time anew: only the one that makes it may
  // remember it.
  const gated = await open(throughGate, 0);
  const tables = await watcher.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'pawl' AND tablename <> 'schema_version'",
  );
  const empty = tables.rows.map(({ name }) => `DELETE FROM pawl.${name}`).join(';');

  async function begin({ build }: Pair): Promise<void> {
    await watcher.query(empty);
    for (const act of build) await perform(direct, act);
  }

  /** The statements that are waiting for someone's lock. */
  async function waiting(): Promise<string[]> {
    const { rows } = await watcher.query<{ query: string }>(
      "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rows.map(({ query }) => query);
  }

  async function race(
    pair: Pair,
    { pauseAt, patient }: { pauseAt: number; patient: boolean },
  ): Promise<{ outcome: Outcome; waitedInGroup: boolean }> {
    await begin(pair);
    const paused = gate.pauseAt(pauseAt);
    const first = perform(gated, pair.first);
    const early = first.then((reply) => {
      throw new Error(`the first operation was not stopped: ${JSON.stringify(reply)}`);
    });
    early.catch(() => undefined);
    await Promise.race([paused, early]);

    let ended = false;
    const second = perform(direct, pair.second).finally(() => (ended = true));
    let waitedInGroup = false;
    const inGroupUntil = Date.now() + (patient ? PATIENT_FOR_MS : 0);
    await until(async () => {
      const inGroup = new Set((await waiting()).map((query) => query.startsWith(GROUP_STATEMENT)));
      waitedInGroup ||= inGroup.has(true);
      return ended || inGroup.has(false) || (waitedInGroup && Date.now() >= inGroupUntil);
    }, 'the second operation ends or waits');
    gate.open();
    const [one, two] = await Promise.all([first, second]);
    return { outcome: { one, two, ...(await stateOf(direct)) }, waitedInGroup };
  }

  return {
    async serial(pair) {
      await begin(pair);
      void gate.pauseAt(0);
      const one = await perform(gated, pair.first);
      const { ends } = gate;
      const two = await perform(direct, pair.second);
      return { outcome: { one, two, ...(await stateOf(direct)) }, ends };
    },

    async races(pair, ends) {
      const races: Race[] = [];
      for (let pauseAt = 1; pauseAt <= ends; pauseAt++) {
        const title = `stopped at the end of transaction ${pauseAt} of ${ends}`;
        const { outcome, waitedInGroup } = await race(pair, { pauseAt, patient: false });
        races.push({ title, outcome });
        if (!waitedInGroup) continue;
        // It takes a way of its own once it has lost its patience: let it wait there too.
        const again = await race(pair, { pauseAt, patient: true });
        races.push({ title: `${title}, until the second was sent singly`, outcome: again.outcome });
      }
      return races;
    },

    async close() {
      await Promise.all([direct.close(), gated.close(), watcher.end()]);
      await gate.close();
    },
  };
}
