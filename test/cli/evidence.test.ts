import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/cli/program.js';
import { pawl as open, task } from '../../src/index.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-cli-evidence-'));
const database = join(folder, 'jobs.db');
const store = `sqlite:${database}`;
const at = (name: string): string => join(folder, name);
let jobIds: string[] = [];

beforeAll(async () => {
  const one = task({ name: 'one' }, ({ input }) => input);
  const two = task({ name: 'two' }, () => 2);
  const app = await open({ store, tasks: [one, two] });
  await app.work({ stopOnSignal: false, poll: '50ms' });
  const started = [await app.start(one, 'a'), await app.start(one, 'b'), await app.start(two, null)];
  await Promise.all(started.map(({ job }) => job.result({ timeout: '200s' })));
  await app.close();
  jobIds = started.map(({ job }) => job.id);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function pawl(
  args: readonly string[],
  { isTerminal = false }: { isTerminal?: boolean } = {},
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const console = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    isTerminal,
  };
  return { code: await run(args, console, [process.execPath]), out, err };
}

describe('GUA-14 pawl export', () => {
  test('GUA-14 writes jobs, a task, or all, to a file that verify accepts', async () => {
    for (const [choice, jobs] of [
      [jobIds.slice(0, 1), 1],
      [['--task', 'one'], 2],
      [['--all'], 3],
    ] as const) {
      const file = at(`${jobs}.jsonl`);
      const exported = await pawl(['export', ...choice, '--store', store, '--out', file, '--json']);
      expect(exported.code).toBe(0);
      const { head, jobs: told } = JSON.parse(exported.out) as { head: string; jobs: number };
      expect(told).toBe(jobs);
      const verified = await pawl(['verify', file, '--head', head, '--json']);
      expect(verified.code).toBe(0);
      expect(JSON.parse(verified.out)).toMatchObject({ holds: true, jobs, head });
    }
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  test('GUA-14 without a file it writes to the standard output, and the head to the other', async () => {
    const { code, out, err } = await pawl(['export', jobIds[0] ?? '', '--store', store]);
    expect(code).toBe(0);
    writeFileSync(at('piped.jsonl'), out);
    const head = /[0-9a-f]{64}/.exec(err)?.[0] ?? '';
    expect(await pawl(['verify', at('piped.jsonl'), '--head', head])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Its head is the one that was kept.'),
    });
  });

  test('people see how far it has come, programs do not', async () => {
    const args = ['export', '--all', '--store', store, '--out', at('seen.jsonl')];
    expect((await pawl(args, { isTerminal: true })).err).toContain('\r3 jobs exported');
    expect((await pawl([...args, '--json'], { isTerminal: true })).err).toBe('');
  });

  test('an unknown job, no choice and two choices are refused, and no file is left', async () => {
    const out = ['--store', store, '--out', at('none.jsonl')];
    expect(await pawl(['export', 'job_nobody', ...out])).toMatchObject({
      code: 2,
      err: expect.stringContaining('JOB_NOT_FOUND'),
    });
    expect(await pawl(['export', ...out])).toMatchObject({ code: 2 });
    expect(await pawl(['export', '--all', '--task', 'one', ...out])).toMatchObject({ code: 2 });
    expect(readdirSync(folder).filter((name) => name.startsWith('none'))).toEqual([]);
  });
});

describe('GUA-14 pawl verify', () => {
  test('GUA-14 a file that was changed, or is another, fails with the first bad line', async () => {
    const file = at('tampered.jsonl');
    await pawl(['export', '--all', '--store', store, '--out', file]);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('inputHash', 'inputhash'));
    const { code, out } = await pawl(['verify', file]);
    expect(code).toBe(1);
    expect(out).toMatch(/does not hold\. Line 3 is not what was written after the line before it \(job /);
    expect(await pawl(['verify', at('1.jsonl'), '--head', 'f'.repeat(64)])).toMatchObject({ code: 1 });
  });

  test('GUA-14 without a file it checks the store', async () => {
    const { code, out } = await pawl(['verify', '--store', store]);
    expect(out).toMatch(/^The store holds: 3 jobs, \d+ commits, \d+ events\.\n$/);
    expect(code).toBe(0);
    const copy = at('copy.db');
    const original = await openDatabase(database);
    original.exec(`VACUUM INTO '${copy}'`);
    original.close();
    const db = await openDatabase(copy);
    db.exec(`UPDATE jobs SET status = 'cancelled' WHERE job_id = '${jobIds[1]}'`);
    db.close();
    const broken = await pawl(['verify', '--store', `sqlite:${copy}`]);
    expect(broken.code).toBe(1);
    expect(broken.out).toContain(`${jobIds[1]}: `);
    const asJson = await pawl(['verify', '--store', `sqlite:${copy}`, '--json']);
    expect(JSON.parse(asJson.out)).toMatchObject({
      holds: false,
      jobs: 3,
      broken_jobs: 1,
      broken: [{ job_id: jobIds[1], holds: false }],
    });
  });

  test('GUA-14 a job whose log was deleted is broken, named beside the others, and no job that is not there', async () => {
    const copy = at('no-log.db');
    const original = await openDatabase(database);
    original.exec(`VACUUM INTO '${copy}'`);
    original.close();
    const [well, sick = '', other] = jobIds;
    const db = await openDatabase(copy);
    db.exec(`DELETE FROM log WHERE job = (SELECT id FROM jobs WHERE job_id = '${sick}')`);
    db.close();
    const on = (...args: string[]) => pawl([...args, '--store', `sqlite:${copy}`]);
    const verified = await on('verify');
    expect(verified.code).toBe(1);
    expect(verified.out).toContain('The store does not hold: 1 of 3 jobs');
    expect(verified.out).toMatch(new RegExp(`${sick}: it cannot be read: .*it has no log`));
    const listed = await on('jobs', 'list');
    expect([well, other].every((id) => listed.out.includes(id ?? ''))).toBe(true);
    expect(listed.err).toContain(`job ${sick} is left out, since it cannot be read`);
    expect((await on('jobs', 'show', sick)).err).toContain('EVENT_UNREADABLE');
    const exported = await on('export', '--all', '--out', at('no-log.jsonl'));
    expect([exported.code === 0, exported.err.includes(sick)]).toEqual([false, true]);
  });

  test('GUA-14 a job whose row was deleted, and its log left, is broken, with exit code 1', async () => {
    const copy = at('no-row.db');
    const original = await openDatabase(database);
    original.exec(`VACUUM INTO '${copy}'`);
    original.close();
    const [, gone = ''] = jobIds;
    const db = await openDatabase(copy);
    db.exec(`DELETE FROM jobs WHERE job_id = '${gone}'`);
    db.close();
    const { code, out } = await pawl(['verify', '--store', `sqlite:${copy}`]);
    expect(code).toBe(1);
    expect(out).toContain('The store does not hold: 1 of 3 jobs');
    expect(out).toMatch(
      new RegExp(`  ${gone}: its row is gone; revisions 1 to \\d of its log are still there\n`),
    );
    const asJson = await pawl(['verify', '--store', `sqlite:${copy}`, '--json']);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.out)).toMatchObject({
      holds: false,
      jobs: 3,
      broken_jobs: 1,
      broken: [{ job_id: gone, holds: false, problem: expect.stringContaining('its row is gone') as string }],
    });
  });

  test('a file that is not there, and a head without a file, are wrong input', async () => {
    expect(await pawl(['verify', at('nowhere.jsonl')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be read'),
    });
    expect(await pawl(['verify', '--store', store, '--head', 'x'])).toMatchObject({ code: 2 });
  });
});
