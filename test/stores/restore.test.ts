import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/cli/program.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { childStart } from '../../src/engine/child-mail.js';
import { laneOf } from '../../src/kernel/index.js';
import { aJobSpec, command, Rig, type OpenStore } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-restore-');
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
  const path = join(mkdtempSync(join(folder, 'data-')), 'pawl.db');
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

const LANES = [laneOf(aJobSpec()), laneOf(aJobSpec({ task: 'mail' }))];
const claimedOf = async (rig: Rig) =>
  (await rig.claim('worker-b', { lanes: LANES })).jobs.map(({ spec }) => spec.jobId);

describe.each([
  ['SQLite', async () => sqliteData()],
  ['Postgres', postgresData],
] as const)('%s', (_, make) => {
  test('after a restore to an earlier point, unfinished jobs are held until they are released, also those of a task whose first effect came later', async () => {
    const data = await make();
    const rig = await Rig.start(data.open);
    await rig.create('job_charged_1');
    await rig.create('job_mail_1', { task: 'mail' });
    await data.backUp();
    // All that comes now is lost, and with it the proof that this task has effects and that one has run.
    const [first] = (await rig.claim('worker-a')).jobs;
    await rig.give('job_charged_1', command('begin-effect', { attemptId: first?.attemptId ?? '' }));
    await rig.stop();
    await data.restore();

    expect(await pawl('doctor', '--restored', '--except', 'mail', '--store', data.url)).toEqual({
      looked: 2,
      held: 1,
      held_by_task: { order: 1 },
      left_out_by_task: { mail: 1 },
      paused_schedules: [],
    });
    const after = await Rig.start(data.open);
    expect((await after.load('job_charged_1')).job.status).toBe('queued');
    expect(await claimedOf(after)).toEqual(['job_mail_1']);
    expect(await pawl('doctor', '--restored', '--store', data.url)).toMatchObject({
      held: 1,
      held_by_task: { order: 1, mail: 1 },
      left_out_by_task: {},
    });
    expect(await pawl('release', 'job_charged_1', '--store', data.url)).toEqual({ released: 1 });
    expect(await claimedOf(after)).toEqual(['job_charged_1']);
    await after.stop();
  });

  test('after a restore to an earlier point, a child that was on its way is held, too', async () => {
    const data = await make();
    const rig = await Rig.start(data.open);
    const parent = { jobId: 'job_parent_1', step: 'mail', occurrence: 1 };
    const child = aJobSpec({ jobId: 'job_child_1', task: 'mail', parent });
    await rig.create('job_parent_1', {}, { outbox: [childStart(child, '{}', rig.clock.now())] });
    await data.backUp();
    await rig.stop();
    await data.restore();

    expect(await pawl('doctor', '--restored', '--store', data.url)).toMatchObject({
      held: 2,
      held_by_task: { order: 1, mail: 1 },
    });
    const after = await Rig.start(data.open);
    expect(await claimedOf(after)).toEqual([]);
    await after.stop();
  });

  test('TSK-7 after a restore to an earlier point, a schedule that is due is paused: it may have fired', async () => {
    const data = await make();
    await (await Rig.start(data.open)).stop();
    const at = (id: string, time: string) =>
      pawl('schedules', 'put', id, 'order', '{}', '--at', time, '--tenant', 'acme', '--store', data.url);
    await at('bill', '2026-02-25T12:00:00Z');
    await at('later', '2999-01-01T00:00:00Z');
    await data.backUp();
    await data.restore();

    const restored = async (...args: string[]) => pawl('doctor', '--restored', ...args, '--store', data.url);
    expect(await restored('--task', 'mail')).toMatchObject({ paused_schedules: [] });
    expect(await restored('--except', 'order')).toMatchObject({ paused_schedules: [] });
    const due = {
      schedule_id: 'bill',
      tenant_id: 'acme',
      job_type: 'order',
      due_at: '2026-02-25T12:00:00Z',
    };
    expect(await restored('--all')).toMatchObject({ paused_schedules: [due] });
    expect(await restored()).toMatchObject({ paused_schedules: [] });
    expect(await pawl('schedules', 'list', '--store', data.url)).toMatchObject({
      schedules: [
        { schedule_id: 'bill', paused: true, next_fire_at: null },
        { schedule_id: 'later', paused: false },
      ],
    });
  });
});
