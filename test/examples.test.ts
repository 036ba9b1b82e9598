import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../src/client/open-store.js';
import { systemClock } from '../src/client/system-clock.js';
import type { Store } from '../src/ports/store.js';
import { compiled } from './compiled.js';
import { startPostgres } from './postgres-server.js';
import { ROOT } from './source-files.js';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Runs an example as a newcomer does: it has to end by itself, in peace. */
async function run(name: string, ...given: string[]): Promise<string> {
  const script = join(await compiled(), 'examples', `${name}.js`);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, ...given], {
    timeout: 240_000,
    cwd: newFolder(),
  });
  expect(stderr).toBe('');
  return stdout;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-example-'));
  folders.push(folder);
  return folder;
}

/** What an example left in its store. */
async function lookInto<T>(url: string, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { clock: systemClock, migrations: 'verify' });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

const counts = (folder: string) =>
  lookInto(`sqlite:${join(folder, 'pawl.db')}`, (store) => store.counts({ tenantId: null }));

test('five-views tells the story of one job to its end', async () => {
  const shown = await run('five-views');
  expect(shown).toMatch(/may not charge again …\s+refused: EFFECT_BARRIER/);
  expect(shown).toMatch(/wants to finish: stale\.\s+refused: STALE_ATTEMPT/);
  expect(shown).toMatch(
    /the job is done\.\s+succeeded\s+succeeded\s+succeeded\s+Completed\s+success\s+succeeded/,
  );
  expect(shown).toContain('invariants broken: 0');
});

test('npm start: server, worker and a first job that is followed to its end', async () => {
  const folder = newFolder();
  const store = `sqlite:${join(folder, 'pawl.db')}`;
  const args = ['run', '--silent', 'start', '--', '--store', store, '--port', '0'];
  // In a group of its own, so that a Ctrl-C for all of it can be sent.
  const start = spawn('npm', args, { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let shown = '';
  const ended = new Promise((resolve) => start.once('close', resolve));
  const isUp = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      shown += chunk.toString();
      if (shown.includes('no job is lost.')) resolve();
    };
    start.stdout.on('data', hear);
    start.stderr.on('data', hear);
    void ended.then(() => reject(new Error(shown)));
  });
  await isUp;
  expect(shown).toMatch(/Pawl listens on http:\/\/127\.0\.0\.1:\d+/);
  expect(shown).toMatch(/✓ quote .*✓ charge .*✓ cool off .*✓ ship .*has succeeded\.\n\{"paid":"ch_\w+"/s);
  const [, url = ''] = /curl (http\S+)\/api\/v1\/jobs\n/.exec(shown) ?? [];
  const { data } = (await (await fetch(`${url}/api/v1/jobs`)).json()) as { data: { jobs: object[] } };
  expect(data.jobs).toMatchObject([{ job_type: 'order', status: 'succeeded' }]);
  process.kill(-(start.pid ?? 0), 'SIGINT');
  await ended;
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect((await counts(folder)).counts).toEqual({ succeeded: 1 });
});

test('GUA-5 npm run demo: killed in the middle of a charge, finished elsewhere, charged once', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'demo'], { cwd: ROOT });
  expect(stdout).toContain('worker-a  ended by SIGKILL, in the middle of the charge');
  expect(stdout).toContain('asked for a charge by its key: yes, ch_1');
  expect(stdout).toMatch(/effect\.intended .*worker-a.*effect\.reconciled .*worker-b/s);
  expect(stdout).toContain('The job has succeeded. Charges that reached the payment service: 1.');
});

test('first-program: a job is started, and its result printed', async () => {
  expect(await run('first-program')).toBe('Hello, Ada!\n');
});

test('order-with-approval: one key is one job, and a charge whose answer got lost is found, not repeated', async () => {
  const folder = newFolder();
  const shown = await run('order-with-approval', folder);
  expect(shown).toContain('One job: true. A repetition: true.');
  expect(shown).toContain("It waits for approval 'approval' (42 € for order 1001)");
  expect(shown).toContain('{"status":"paid","approvedBy":"Ada","cents":4200}');
  expect(shown).toContain('{"status":"expired"}');
  const books = readFileSync(join(folder, 'payments.jsonl'), 'utf8').trim().split('\n');
  expect(books.map((line) => JSON.parse(line) as unknown)).toEqual([
    { key: expect.stringMatching(/^[0-9a-f]{64}$/) as string, orderId: '1001', cents: 4_200 },
  ]);
  expect((await counts(folder)).counts).toEqual({ succeeded: 2 });
});

test('fan-out: a thousand children, each a job of its own', async () => {
  const folder = newFolder();
  const shown = await run('fan-out', folder);
  expect(shown).toContain('the sum is 333833500, as it should be: true');
  expect(shown).toContain('10 attempts failed on the way');
  expect((await counts(folder)).counts).toEqual({ succeeded: 1_001 });
});

test('thirty-day-sleep: a restart in the middle neither wakes nor loses the job', async () => {
  const folder = newFolder();
  const shown = await run('thirty-day-sleep', folder);
  const story = shown.split('\n').filter((line) => line.startsWith('2026'));
  expect(story).toEqual([
    '2026-01-01  Welcome, Ada! Thirty days are yours.',
    "2026-01-01  It sleeps at step 'trial' until 2026-01-31T00:00:00Z.",
    '2026-01-15  The process is gone.',
    "2026-01-17  Another one is here. It sleeps at step 'trial' until 2026-01-31T00:00:00Z.",
    '2026-01-31  Ada, your trial has ended.',
    '2026-01-31  {"endedOn":"2026-01-31"}',
  ]);
  expect((await counts(folder)).counts).toEqual({ succeeded: 1 });
});

test('agent-loop: pauses when its budget is used up, and pays for no thought twice', async () => {
  const folder = newFolder();
  const shown = await run('agent-loop', folder);
  expect(shown).toContain("It waits for approval 'grant-1' (6 of 6 cents are spent).");
  expect(shown.match(/^ {2}(search|book) .*$/gm)).toEqual([
    '  search LIS: 3 of 6 cents spent',
    '  search OPO: 6 of 6 cents spent',
    '  search FAO: 9 of 26 cents spent',
    '  book OPO: 12 of 26 cents spent',
  ]);
  expect(shown).toContain('15 cents were spent on 5 calls of the model; bookings: 1.');
  expect((await counts(folder)).counts).toEqual({ succeeded: 1 });
});

test('remote-worker: a job is run through a server, and its charge happens once', async () => {
  const folder = newFolder();
  const shown = await run('remote-worker', folder);
  expect(shown).toContain("It waits for 'approval'. Charges so far: 1.");
  expect(shown).toContain('It came to {"paid":"ch_4200","approved":true}. Charges: 1.');
  expect((await counts(folder)).counts).toEqual({ succeeded: 1 });
});

test('transactional-enqueue: a rollback leaves neither row nor job, a commit leaves both', async () => {
  const server = await startPostgres();
  try {
    const url = await server.createDatabase();
    const shown = await run('transactional-enqueue', url);
    expect(shown).toContain('1001, a kettle: 201\n  The row: there. The job: there.');
    expect(shown).toContain('The row: not there. The job: JOB_NOT_FOUND.');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('SELECT id, state FROM orders');
    await client.end();
    expect(rows).toEqual([{ id: '1001', state: 'shipped' }]);
    expect((await lookInto(url, (store) => store.counts({ tenantId: null }))).counts).toEqual({
      succeeded: 1,
    });
  } finally {
    await server.stop();
  }
});
