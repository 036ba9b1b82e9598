/**
 * What a store costs beside its own database: `npm run bench:store`.
 *
 * Each workload runs on the SQLite store and, in the same run and with the same bytes, as the least SQL that could do
 * it. The ratio is what counts; absolute figures depend on the machine and the hour.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareCommit } from '../src/engine/prepare-commit.js';
import { decide, laneOf, newJobId, NO_STEPS, type Command, type Job } from '../src/kernel/index.js';
import type { CommitItem, Loaded, Store } from '../src/ports/store.js';
import { encodeState } from '../src/stores/job-state.js';
import { openDatabase, type Database } from '../src/stores/sqlite/driver.js';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.js';
import { aJobSpec, command, prng } from '../src/testkit/index.js';

const JOBS = 20_000;
const BATCH = 1_000;
const ROUNDS = 5;
const random = prng(1);
const clock = {
  now: () => Date.now(),
  after: (ms: number, run: () => void) => (setTimeout(run, ms), () => undefined),
};
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const worker = { id: 'w', incarnation: 'w.1' };
const lane = { lane: laneOf(aJobSpec()), keyLimit: null };

function commitOf(head: Loaded | null, jobId: string, given: Command): CommitItem {
  const decision = decide(head && head.job, given, NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  return prepareCommit(head, { jobId, commandId: `${jobId}/${head?.job.rev ?? 0}`, events: decision.events });
}

function creates(): CommitItem[] {
  return Array.from({ length: JOBS }, () => {
    const jobId = newJobId({ now: Date.now(), bucket: random.int(1024), draw: (below) => random.int(below) });
    return commitOf(
      null,
      jobId,
      command('create', {
        now: Date.now(),
        spec: aJobSpec({ jobId, scheduledAt: Date.now() }),
        input: '{"order":1001,"cents":4200}',
      }),
    );
  });
}

const batchesOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH) }, (_, i) => items.slice(i * BATCH, (i + 1) * BATCH));

async function timed(run: () => Promise<void> | void): Promise<number> {
  const start = process.hrtime.bigint();
  await run();
  return JOBS / (Number(process.hrtime.bigint() - start) / 1e9);
}

async function claimAndComplete(store: Store): Promise<void> {
  let finished = 0;
  let claims = 0;
  while (finished < JOBS) {
    const heads = new Map<string, Loaded>();
    const { jobs } = await store.claim({
      worker,
      lanes: [lane],
      limit: BATCH,
      afterTenant: '',
      decide: (found, now) => {
        claims += 1;
        const item = commitOf(
          found,
          found.job.spec.jobId,
          command('claim', { now, attemptId: `w/${claims}`, worker }),
        );
        if (item.job) heads.set(item.jobId, { job: item.job, link: item.link, inboxRev: found.inboxRev });
        return item;
      },
    });
    if (jobs.length === 0) throw new Error('nothing to claim');
    const ends = jobs.map((job: Job) => {
      const head = heads.get(job.spec.jobId);
      if (!head) throw new Error('claimed without a head');
      return commitOf(
        head,
        job.spec.jobId,
        command('complete', { now: Date.now(), attemptId: job.attemptId ?? '', result: '{"ok":true}' }),
      );
    });
    await store.commit(ends);
    finished += jobs.length;
  }
}

/** Two tables, one index, the same bytes: what any store with a log must write at least. */
async function rawDatabase(name: string): Promise<Database> {
  const db = await openDatabase(join(folder, name));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec(`CREATE TABLE jobs (id INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, due_at INTEGER, state TEXT NOT NULL) STRICT;
           CREATE INDEX due ON jobs (due_at) WHERE due_at IS NOT NULL;
           CREATE TABLE log (job INTEGER, rev INTEGER, body TEXT, link TEXT, PRIMARY KEY (job, rev)) STRICT, WITHOUT ROWID`);
  return db;
}

function rawCreate(db: Database, items: readonly CommitItem[]): void {
  const job = db.prepare('INSERT INTO jobs (job_id, due_at, state) VALUES (?, ?, ?)');
  const log = db.prepare('INSERT INTO log VALUES (?, ?, ?, ?)');
  for (const batch of batchesOf(items)) {
    db.exec('BEGIN IMMEDIATE');
    for (const item of batch) {
      const { lastInsertRowid } = job.run(item.jobId, Date.now(), item.job ? encodeState(item.job) : '');
      log.run(Number(lastInsertRowid), 1, item.body, item.link);
    }
    db.exec('COMMIT');
  }
}

function rawClaimAndComplete(db: Database, item: CommitItem): void {
  const due = db.prepare(
    'SELECT jobs.id, state, body FROM jobs JOIN log ON log.job = jobs.id AND rev = 1 WHERE due_at <= ? ORDER BY due_at LIMIT ?',
  );
  const update = db.prepare('UPDATE jobs SET due_at = ?, state = ? WHERE id = ?');
  const log = db.prepare('INSERT INTO log VALUES (?, ?, ?, ?)');
  const state = item.job ? encodeState(item.job) : '';
  for (let finished = 0; finished < JOBS;) {
    const found = due.all(Date.now(), BATCH);
    for (const rev of [2, 3]) {
      db.exec('BEGIN IMMEDIATE');
      for (const { id } of found) {
        update.run(null, state, id ?? 0);
        log.run(id ?? 0, rev, item.body.slice(0, 200), item.link);
      }
      db.exec('COMMIT');
    }
    finished += found.length;
  }
}

type Round = Record<'create' | 'raw create' | 'claim + complete' | 'raw claim + complete', number>;

async function round(n: number): Promise<Round> {
  const items = creates();
  const path = join(folder, `store-${n}.db`);
  const store = await sqliteStore({ path, clock });
  await store.beat({ worker, leaseMs: 600_000 });
  const create = await timed(async () => {
    for (const batch of batchesOf(items)) await store.commit(batch);
  });
  const drain = await timed(() => claimAndComplete(store));
  await store.close();
  const raw = await rawDatabase(`raw-${n}.db`);
  const rawCreated = await timed(() => rawCreate(raw, items));
  const rawDrained = await timed(() => rawClaimAndComplete(raw, items[0] as CommitItem));
  raw.close();
  if (n === 0)
    console.log(
      `bytes on disk per job after its whole life: ${Math.round(statSync(path).size / JOBS)}; rows: 1 job, 3 log\n`,
    );
  return { create, 'raw create': rawCreated, 'claim + complete': drain, 'raw claim + complete': rawDrained };
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const show = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`.padStart(10);

console.log(
  `SQLite store, ${JOBS.toLocaleString('en')} jobs in batches of ${BATCH}, ${ROUNDS} rounds, median (Node ${process.version})`,
);
const rounds: Round[] = [];
for (let n = 0; n < ROUNDS; n++) rounds.push(await round(n));
for (const [name, bar] of [
  ['create', 0.5],
  ['claim + complete', 0.6],
] as const) {
  const ratios = rounds.map((one) => one[name] / one[`raw ${name}`]);
  console.log(
    `${name.padEnd(17)} ${show(median(rounds.map((one) => one[name])))}  raw ${show(median(rounds.map((one) => one[`raw ${name}`])))}` +
      `  ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}), bar ${bar}`,
  );
}
rmSync(folder, { recursive: true });
