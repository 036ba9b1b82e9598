import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkClock, checkLease, checkNode } from '../../src/cli/doctor/check-machine.js';
import { checkPostgres } from '../../src/cli/doctor/check-postgres.js';
import { checkSqlite } from '../../src/cli/doctor/check-sqlite.js';
import type { Check } from '../../src/cli/doctor/check.js';
import { pawl as open, task } from '../../src/index.js';
import type { Clock } from '../../src/ports/clock.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { fakeClock } from '../../src/testkit/index.js';
import { cliOn } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));
const storeAt = (name: string): string => `sqlite:${join(folder, name)}`;

type Report = { passed: boolean; checks: Check[] };
const statuses = ({ checks }: Report) => Object.fromEntries(checks.map(({ name, status }) => [name, status]));

describe('pawl doctor', () => {
  test('on a store that is well and worked on', async () => {
    const store = storeAt('well.db');
    const app = await open({ store, tasks: [task({ name: 'a' }, () => 1)] });
    onTestFinished(() => app.close());
    await app.work({ stopOnSignal: false });
    const report = await cliOn(store).json<Report>('doctor');
    expect(new Set(Object.values(statuses(report)))).toEqual(new Set(['ok']));
    expect(report.passed).toBe(true);
    expect(report.checks.map(({ name }) => name)).toEqual([
      'node',
      'store',
      'schema',
      'clock',
      'permissions',
      'version',
      'durability',
      'bloat',
      'log',
      'workers',
      'backlog',
      'jobs',
      'dead letters',
    ]);
  });

  test('GUA-16 names what voids a guarantee: no worker, a short lease, a store in memory', async () => {
    const store = storeAt('idle.db');
    const cwd = mkdtempSync(join(folder, 'app-'));
    writeFileSync(join(cwd, 'pawl.config.mjs'), "export default { worker: { lease: '1s' } }");
    const pawl = cliOn(store, { cwd });
    await pawl('start', 'a');
    const { code, out } = await pawl('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/warn +lease .*Voids G1 under F10/);
    expect(out).toMatch(/warn +workers +none is alive.*Voids G1/);
    expect(out).toMatch(/ok +backlog +1 due, the oldest for \d+ s/);
    expect(out).toContain('Nothing is broken; 2 warnings.');
    expect((await cliOn('memory:')('doctor')).out).toMatch(/warn +store .*Voids G5, G1, G4/);
  });

  test('an empty PAWL_LEASE is none; one that is set goes before the config', async () => {
    const store = storeAt('lease.db');
    const cwd = mkdtempSync(join(folder, 'app-'));
    writeFileSync(join(cwd, 'pawl.config.mjs'), "export default { worker: { lease: '40s' } }");
    const doctor = (lease: string) => cliOn(store, { cwd, env: { PAWL_LEASE: lease } })('doctor');
    await cliOn(store)('migrate');
    expect(await doctor('')).toMatchObject({ code: 0, out: expect.stringContaining('a lease of 40 s') });
    expect(await doctor('50s')).toMatchObject({ code: 0, out: expect.stringContaining('a lease of 50 s') });
  });

  test('GUA-16 says that the clock was set back, on a file whose time is that of the machine', async () => {
    const store = storeAt('set-back.db');
    const clock = fakeClock(Date.now() + 3_600_000);
    const a = task({ name: 'a' }, () => 1);
    const app = await open({ store, tasks: [a], clock });
    await app.start(a, null);
    await app.close();
    expect(await cliOn(store)('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/fail +clock +this machine is 60 min behind the newest time/) as string,
    });
  });

  test('passwords are in nothing that it prints', async () => {
    for (const address of ['u:s3cret@127.0.0.1:1/none', '127.0.0.1:1/none?user=u&password=s3cret']) {
      const pawl = cliOn(`postgres://${address}`);
      for (const { code, out, err } of [await pawl('doctor'), await pawl('doctor', '--json')]) {
        expect(code).toBe(1);
        expect(`${out}${err}`).not.toContain('s3cret');
      }
    }
  });

  test('what lives in memory is not said to want a migration', async () => {
    expect((await cliOn('sqlite::memory:')('doctor')).out).toMatch(/warn +store .*Voids G5, G1, G4/);
  });

  test('exit code 1 where a check fails: no store, no schema, no right to write', async () => {
    expect(await cliOn(storeAt('none.db'))('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/fail +store +STORE_UNAVAILABLE: there is no database/) as string,
    });
    writeFileSync(join(folder, 'empty.db'), '');
    expect((await cliOn(storeAt('empty.db'))('doctor')).out).toMatch(/fail +schema .*pawl migrate/);
    expect((await cliOn('postgres://127.0.0.1:1/none')('doctor')).code).toBe(1);
  });

  test.skipIf(process.getuid?.() === 0)('a file that is read-only', async () => {
    const store = storeAt('read-only.db');
    await cliOn(store)('migrate');
    chmodSync(join(folder, 'read-only.db'), 0o444);
    expect((await cliOn(store)('doctor')).out).toMatch(/fail +permissions +STORE_READ_ONLY/);
  });
});

describe('what each finding means', () => {
  const of = (checks: readonly Check[], name: string) => checks.find((check) => check.name === name)?.status;

  test('Node, the clock, leases', async () => {
    expect(checkNode('v20.18.1').status).toBe('fail');
    expect(checkNode('v20.19.0').status).toBe('ok');
    expect(checkNode('v24.0.0').status).toBe('ok');
    const clockAt = (now: number): Clock => ({
      now: () => now,
      elapsed: () => 0,
      after: () => () => undefined,
    });
    const store = memoryStore({ clock: clockAt(1_000_000) });
    expect((await checkClock(store, clockAt(1_001_500))).status).toBe('ok');
    const late = await checkClock(store, clockAt(400_000));
    expect(late).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('10 min behind') as string,
    });
    expect(checkLease('30s')).toMatchObject([{ status: 'ok' }]);
    expect(checkLease(undefined)).toEqual([]);
  });

  test('SQLite: old versions, no log, much that is free', () => {
    const well = {
      version: '3.51.3',
      journalMode: 'wal',
      bytes: 1_000,
      freeBytes: 0,
      walBytes: 0,
      dueJobs: 0,
      oldestDueAt: null,
      newestAt: null,
    };
    expect(checkSqlite(well).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(of(checkSqlite({ ...well, version: '3.51.2' }), 'version')).toBe('fail');
    expect(of(checkSqlite({ ...well, version: '4.0.0' }), 'version')).toBe('ok');
    expect(of(checkSqlite({ ...well, journalMode: 'delete' }), 'durability')).toBe('fail');
    const big = 2 ** 30;
    expect(of(checkSqlite({ ...well, bytes: big, freeBytes: big * 0.6 }), 'bloat')).toBe('warn');
    expect(of(checkSqlite({ ...well, walBytes: big }), 'log')).toBe('warn');
  });

  test('GUA-16 Postgres: durability that is off, missing rights, dead rows, long transactions', () => {
    const well = {
      version: '18.0',
      isStandby: false,
      settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', autovacuum: 'on' },
      missingPrivileges: [],
      tables: [{ name: 'jobs', live: 10, dead: 5 }],
      dueJobs: 0,
      oldestDueAt: null,
      oldestTransactionMs: 0,
    };
    expect(new Set(checkPostgres(well).map(({ status }) => status))).toEqual(new Set(['ok']));
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes'] as const) {
      const found = checkPostgres({ ...well, settings: { ...well.settings, [name]: 'off' } }).find(
        ({ status }) => status === 'fail',
      );
      expect(found?.message).toContain(`${name} is off`);
      expect(found?.voids).toContain('G5');
    }
    expect(of(checkPostgres({ ...well, version: '13.9' }), 'version')).toBe('fail');
    expect(of(checkPostgres({ ...well, isStandby: true }), 'permissions')).toBe('fail');
    expect(of(checkPostgres({ ...well, missingPrivileges: ['jobs INSERT'] }), 'permissions')).toBe('fail');
    expect(of(checkPostgres({ ...well, tables: [{ name: 'jobs', live: 1, dead: 200_000 }] }), 'bloat')).toBe(
      'warn',
    );
    expect(of(checkPostgres({ ...well, oldestTransactionMs: 3_600_000 }), 'transactions')).toBe('warn');
    expect(of(checkPostgres({ ...well, settings: { ...well.settings, autovacuum: 'off' } }), 'vacuum')).toBe(
      'warn',
    );
  });
});
