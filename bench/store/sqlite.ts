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
import type { CommitItem } from '../../src/ports/store.js';
import { openDatabase, type Database } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { rateOf, report, type Round } from './compare.js';
import {
  BATCH,
  batchesOf,
  claimAndComplete,
  clock,
  createAll,
  creates,
  drainReopened,
  lane,
  RAW,
  worker,
} from './workload.js';

const JOBS = 20_000;
const ROUNDS = 7;
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));

/**
 * The least that does the same: jobs that are claimed by tenant, priority and time, a holder whose jobs can be found,
 * a log that cannot fork and can be followed, and the same bytes.
 */
async function rawDatabase(name: string): Promise<Database> {
  const db = await openDatabase(join(folder, name));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec(`CREATE TABLE jobs (id INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, tenant_id TEXT NOT NULL,
             priority INTEGER NOT NULL, due_at INTEGER, attempt_id TEXT, holder TEXT, state TEXT NOT NULL) STRICT;
           CREATE INDEX due ON jobs (lane, tenant_id, priority DESC, due_at) WHERE due_at IS NOT NULL;
           CREATE INDEX held ON jobs (holder) WHERE holder IS NOT NULL;
           CREATE TABLE log (position INTEGER PRIMARY KEY, job INTEGER NOT NULL, rev INTEGER NOT NULL, command_id TEXT NOT NULL,
             body TEXT NOT NULL, link TEXT NOT NULL, UNIQUE (job, rev)) STRICT`);
  return db;
}

function rawCreate(db: Database, items: readonly CommitItem[]): void {
  const job = db.prepare(
    'INSERT INTO jobs (job_id, lane, tenant_id, priority, due_at, state) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const log = db.prepare('INSERT INTO log (job, rev, command_id, body, link) VALUES (?, ?, ?, ?, ?)');
  for (const batch of batchesOf(items)) {
    db.exec('BEGIN IMMEDIATE');
    for (const { jobId, commandId, body, link } of batch) {
      const { lastInsertRowid } = job.run(jobId, lane.lane, 'acme', 0, Date.now(), '{}');
      log.run(Number(lastInsertRowid), 1, commandId, body, link);
    }
    db.exec('COMMIT');
  }
}

function rawClaimAndComplete(db: Database, { link }: CommitItem): void {
  const due = db.prepare(
    `SELECT jobs.id, job_id, state, body, link FROM jobs JOIN log ON log.job = jobs.id AND rev = 1
     WHERE lane = ? AND tenant_id = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY priority DESC, due_at LIMIT ?`,
  );
  const claim = db.prepare(
    'UPDATE jobs SET due_at = NULL, attempt_id = ?, holder = ?, state = ? WHERE id = ?',
  );
  const end = db.prepare('UPDATE jobs SET holder = NULL, state = ? WHERE id = ? AND attempt_id = ?');
  const log = db.prepare('INSERT INTO log (job, rev, command_id, body, link) VALUES (?, ?, ?, ?, ?)');
  for (let finished = 0; finished < JOBS;) {
    db.exec('BEGIN IMMEDIATE');
    const found = due.all(lane.lane, 'acme', Date.now(), BATCH);
    for (const { id = 0 } of found) {
      claim.run(`w/${id}`, 'w.1', RAW.claimed, id);
      log.run(id, 2, `w/${id}`, RAW.claim, link);
    }
    db.exec('COMMIT');
    db.exec('BEGIN IMMEDIATE');
    for (const { id = 0, job_id = '' } of found) {
      end.run(RAW.ended, id, `w/${id}`);
      log.run(id, 3, `${job_id}/3`, RAW.end, link);
    }
    db.exec('COMMIT');
    finished += found.length;
  }
}

async function round(n: number): Promise<Round> {
  const items = creates(JOBS);
  const path = join(folder, `store-${n}.db`);
  const store = await sqliteStore({ path, clock });
  await store.beat({ worker, leaseMs: 600_000, lanes: [] });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const create = await rateOf(JOBS, () => createAll(store, items));
  const drain = await rateOf(JOBS, () => claimAndComplete(store, JOBS));
  delay.disable();
  await store.close();
  const reopened = await drainReopened(JOBS, () =>
    sqliteStore({ path: join(folder, `reopened-${n}.db`), clock }),
  );
  const raw = await rawDatabase(`raw-${n}.db`);
  const rawCreated = await rateOf(JOBS, () => rawCreate(raw, items));
  const rawDrained = await rateOf(JOBS, () => rawClaimAndComplete(raw, items[0] as CommitItem));
  raw.close();
  if (n === 0) {
    const bytes = Math.round(statSync(path).size / JOBS);
    console.log(`bytes on disk per job after its whole life: ${bytes}; rows: 1 job, 3 log`);
    const [typical, longest] = [delay.percentile(50), delay.max].map((ns) => Math.round(ns / 1e6));
    console.log(
      `the event loop was held for ${typical} ms (median) and ${longest} ms (longest), in batches of ${BATCH}\n`,
    );
  }
  return {
    create,
    'raw create': rawCreated,
    'claim + complete': drain,
    reopened,
    'raw claim + complete': rawDrained,
  };
}

console.log(
  `SQLite store, ${JOBS} jobs in batches of ${BATCH}, ${ROUNDS} rounds, median (Node ${process.version})`,
);
const rounds: Round[] = [];
for (let n = 0; n < ROUNDS; n++) rounds.push(await round(n));
rmSync(folder, { recursive: true });
process.exitCode = report(rounds) ? 0 : 1;
