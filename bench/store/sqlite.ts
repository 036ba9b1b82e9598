/**
 * What the SQLite store costs beside SQLite itself: `npm run bench:store`.
 *
 * Each workload runs on the store and, in the same run and with the same bytes, as the least SQL that could do it.
 * The ratio is what counts; absolute figures depend on the machine and the hour.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { rateOf } from '../harness/statistics.js';
import { rawSqlite } from '../raw/raw-sqlite.js';
import { rawRates, report, type Round } from './compare.js';
import { BATCH, claimAndComplete, clock, createAll, creates, drainReopened, worker } from './workload.js';

const JOBS = 20_000;
const ROUNDS = 7;
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));

async function round(n: number): Promise<Round> {
  const items = creates(JOBS);
  const path = join(folder, `store-${n}.db`);
  const store = await sqliteStore({ path, clock });
  await store.beat({ worker, leaseMs: 600_000, lanes: [] });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const create = await rateOf(JOBS, () => createAll(store, items));
  const { byStore, inAll } = await claimAndComplete(store, JOBS);
  delay.disable();
  await store.close();
  const reopened = await drainReopened(JOBS, () =>
    sqliteStore({ path: join(folder, `reopened-${n}.db`), clock }),
  );
  const raw = await rawRates(await rawSqlite(join(folder, `raw-${n}.db`)), items, BATCH);
  if (n === 0) {
    const bytes = Math.round(statSync(path).size / JOBS);
    console.log(`bytes on disk per job after its whole life: ${bytes}; rows: 1 job, 3 log`);
    const [typical, longest] = [delay.percentile(50), delay.max].map((ns) => Math.round(ns / 1e6));
    console.log(
      `the event loop was held for ${typical} ms (median) and ${longest} ms (longest), in batches of ${BATCH}\n`,
    );
  }
  return { create, 'claim + complete': byStore, 'and the kernel': inAll, reopened, ...raw };
}

console.log(
  `SQLite store, ${JOBS} jobs in batches of ${BATCH}, ${ROUNDS} rounds, median (Node ${process.version})`,
);
const rounds: Round[] = [];
for (let n = 0; n < ROUNDS; n++) rounds.push(await round(n));
rmSync(folder, { recursive: true });
process.exitCode = report(rounds) ? 0 : 1;
