import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { pawl, task } from '../../src/index.js';
import { openDatabase, type Database } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { systemClock } from '../../src/client/system-clock.js';
import { filesUnder, read } from '../source-files.js';
import { storeFolder } from '../store-folder.js';

/** Every statement that was prepared in the present test. */
const statements = vi.hoisted(() => new Set<string>());

vi.mock('../../src/stores/sqlite/driver.js', async (original) => {
  const { openDatabase: open } = await original<{ openDatabase: (path: string) => Promise<Database> }>();
  const recording = async (path: string): Promise<Database> => {
    const db = await open(path);
    return {
      exec: (sql) => db.exec(sql),
      prepare(sql) {
        statements.add(sql);
        return db.prepare(sql);
      },
      close: () => db.close(),
    };
  };
  return { openDatabase: recording };
});

beforeEach(() => statements.clear());

/** Tables that only ever grow with the jobs, walked through from one end to the other, by statement. */
async function walks(path: string): Promise<readonly string[]> {
  const prepared = [...statements];
  const db = await openDatabase(path);
  const found = prepared.flatMap((sql) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .filter(({ detail }) => /^SCAN (jobs|log|effects|identities)$/.test(String(detail)))
      .map(({ detail }) => `${String(detail)}: ${sql}`),
  );
  db.close();
  return found;
}

/** What comes round by itself, each told by a part of it: due timers, lost jobs, unread mail, what is due to be deleted. */
const BY_ITSELF = [
  'WHERE wake_at <= ?',
  'incarnation NOT IN (SELECT incarnation FROM workers',
  'FROM inbox JOIN jobs ON jobs.id = inbox.job',
  'FROM dlq_items d WHERE d.job_id = jobs.job_id',
].map((part) => expect.stringContaining(part) as string);

function newPath(): string {
  const folder = storeFolder('pawl-plans-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'pawl.db');
}

test('nothing that a worker does by itself walks through all jobs: with a million of them it stood still every second', async () => {
  const path = newPath();
  const plain = task({ name: 'plain' }, ({ step }) => step.run('once', () => 1));
  const limited = task({ name: 'limited', concurrency: { key: () => 'k', limit: 1 } }, () => undefined);
  const waiting = task({ name: 'waiting' }, async ({ step }) => {
    await step.sleep('nap', 1);
    return step.waitFor('word', { timeout: '1h' });
  });
  const doomed = task({ name: 'doomed', retry: { maxRetries: 1, baseMs: 1, jitterMs: 0 } }, () => {
    throw new Error('no');
  });
  const app = await pawl({
    store: `sqlite:${path}`,
    tasks: [plain, limited, waiting, doomed],
    retention: { keep: '1ms' },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  await app.work({ poll: '50ms', lease: '300ms', stopOnSignal: false });
  const started = await Promise.all([
    app.start(plain, null, { idempotencyKey: 'once' }),
    app.start(limited, null),
    app.start(limited, null),
    app.start(doomed, null),
  ]);
  const { job } = await app.start(waiting, null);
  await job.signal('word', { value: 1, from: 'test' });
  await Promise.allSettled([...started.map((one) => one.job.result()), job.result()]);
  await vi.waitFor(() => expect([...statements]).toEqual(expect.arrayContaining(BY_ITSELF)), 60_000);
  await app.close();
  expect(await walks(path)).toEqual([]);
});

test('the check sees a walk where there is one', async () => {
  const path = newPath();
  await (await sqliteStore({ path, clock: systemClock })).close();
  const db = await openDatabase(path);
  db.prepare('SELECT count(*) FROM jobs WHERE task = ?').get('order');
  db.close();
  expect(await walks(path)).toHaveLength(1);
});

const LIVE = ['jobs_claim', 'jobs_held', 'jobs_resting'];

/** How statements come to rows of jobs, as SQLite plans it. */
async function waysToJobs(path: string): Promise<readonly string[]> {
  const prepared = [...statements].filter((sql) => sql.startsWith('SELECT'));
  const db = await openDatabase(path);
  const details = prepared.flatMap((sql) => db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
  db.close();
  const ways = details
    .map(({ detail }) => String(detail))
    .filter((detail) => /^(SCAN|SEARCH) jobs/.test(detail));
  return [...new Set(ways.map((way) => /INDEX (\w+)/.exec(way)?.[1] ?? way))].toSorted();
}

test('few among many are listed and counted by indexes: beside a million others it took 0.1 to 0.6 s, in which nothing else ran', async () => {
  const path = newPath();
  const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
  onTestFinished(() => rig.stop());
  for (const tenantId of ['acme', 'default']) {
    await rig.create(`job_cancelled_${tenantId}`, { tenantId });
    await rig.give(`job_cancelled_${tenantId}`, command('cancel'));
    await rig.running(`job_running_${tenantId}`, { tenantId });
  }
  const all = { tenantId: null, statuses: null, task: null, limit: 9, cursor: null };
  const waysOf = async (listing: Promise<unknown>) => {
    await listing;
    const ways = await waysToJobs(path);
    statements.clear();
    return ways;
  };
  statements.clear();
  expect(await waysOf(rig.store.list({ ...all, tenantId: 'acme' }))).toEqual(['jobs_of_tenant']);
  expect(await waysOf(rig.store.list({ ...all, statuses: ['cancelled'] }))).toEqual(['jobs_ended_otherwise']);
  expect(
    await waysOf(rig.store.list({ ...all, tenantId: 'acme', statuses: ['running', 'waiting'] })),
  ).toEqual([...LIVE]);
  const others = [...LIVE, 'jobs_ended_otherwise', 'sqlite_autoindex_jobs_1'];
  expect(await waysOf(rig.store.counts({ tenantId: null }))).toEqual(others.toSorted());
  for (const tenantId of ['acme', 'default'])
    expect(await waysOf(rig.store.counts({ tenantId }))).toEqual(
      expect.arrayContaining(['jobs_of_tenant', ...LIVE]),
    );
});

test('no statement is planned anew each time that it is given a limit: SQLite looks at a bare one, see Session', () => {
  const files = filesUnder('src/stores/sqlite').filter((file) => file !== 'src/stores/sqlite/session.ts');
  expect(files.filter((file) => /LIMIT \+\?/.test(read(file))).length).toBeGreaterThan(5);
  expect(files.filter((file) => /LIMIT \?/.test(read(file)))).toEqual([]);
});
