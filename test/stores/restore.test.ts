import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/cli/program.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { laneOf } from '../../src/kernel/index.js';
import { aJobSpec, command, Rig, type OpenStore } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-restore-'));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

type Data = {
  readonly url: string;
  readonly open: OpenStore;
  /** Keeps a copy of the data as it is now. */
  backUp(): Promise<void>;
  /** Puts the copy in the place of the data. Nobody has it open. */
  restore(): Promise<void>;
};

function sqliteData(): Data {
  const path = join(folder, 'pawl.db');
  return {
    url: `sqlite:${path}`,
    open: ({ clock }) => sqliteStore({ path, clock }),
    async backUp() {
      const db = await openDatabase(path);
      db.exec(`VACUUM INTO '${path}.backup'`);
      db.close();
    },
    async restore() {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      copyFileSync(`${path}.backup`, path);
    },
  };
}

async function postgresData(): Promise<Data> {
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  const admin = Object.assign(new URL(url), { pathname: '/postgres' }).toString();
  const copy = (from: string, to: string) => ask(admin, `CREATE DATABASE ${to} TEMPLATE ${from}`);
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
  return {
    url,
    open: ({ clock }) => postgresStore({ url, clock, now: () => clock.now() }),
    async backUp() {
      await ask(admin, cut);
      await copy(name, `${name}_backup`);
    },
    async restore() {
      await ask(admin, `DROP DATABASE ${name} WITH (FORCE)`);
      await copy(`${name}_backup`, name);
      // As in another cluster, which has given out fewer numbers.
      for (const [table, xid] of [
        ['jobs', 'created_xid'],
        ['created', 'xid'],
        ['log', 'xid'],
      ]) {
        await ask(url, `UPDATE pawl.${table} SET ${xid} = (${xid}::text::bigint + 1000000000)::text::xid8`);
      }
    },
  };
}

async function pawl(...args: string[]): Promise<unknown> {
  let out = '';
  const console = { out: (text: string) => void (out += text), err: () => undefined, isTerminal: false };
  expect(await run([...args, '--json'], console, [process.execPath])).toBe(0);
  return JSON.parse(out);
}

const MAIL = laneOf(aJobSpec({ task: 'mail' }));

describe.each([
  ['SQLite', async () => sqliteData()],
  ['Postgres', postgresData],
] as const)('%s', (_, make) => {
  test('after a restore to an earlier point, jobs whose task uses effects are held until they are released', async () => {
    const data = await make();
    const rig = await Rig.start(data.open);
    // A job of the same task has shown that it uses effects; another is waiting; a third has a task without any.
    const { attemptId } = await rig.running('job_charged_1');
    await rig.give('job_charged_1', command('begin-effect', { attemptId: attemptId ?? '' }));
    await rig.create('job_charged_2');
    await rig.create('job_mail_1', { task: 'mail' });
    await data.backUp();
    // All that comes now is lost, and with it the proof that this job's effect has run.
    const [second] = (await rig.claim('worker-a')).jobs;
    await rig.give('job_charged_2', command('begin-effect', { attemptId: second?.attemptId ?? '' }));
    await rig.stop();
    await data.restore();

    expect(await pawl('doctor', '--restored', '--store', data.url)).toEqual({
      looked: 3,
      held: 2,
      held_by_task: { order: 2 },
    });
    const after = await Rig.start(data.open);
    expect((await after.load('job_charged_2')).job.status).toBe('queued');
    const lanes = [laneOf(aJobSpec()), MAIL];
    const claimed = async () => (await after.claim('worker-b', { lanes })).jobs.map(({ spec }) => spec.jobId);
    expect(await claimed()).toEqual(['job_mail_1']);
    expect(await pawl('release', 'job_charged_2', '--store', data.url)).toEqual({ released: 1 });
    expect(await claimed()).toEqual(['job_charged_2']);
    await after.stop();
  });
});
