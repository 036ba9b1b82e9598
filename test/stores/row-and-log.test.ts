import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { jobs as jobsContract } from '../../src/contracts/jobs.js';
import { STATUSES, TRANSITIONS } from '../../src/kernel/index.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { aFatalFailure, command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

let server: PostgresServer;
let folder: string;
beforeAll(async () => {
  server = await startPostgres();
  folder = storeFolder('pawl-row-and-log-');
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

type Row = Readonly<Record<string, unknown>>;
type Table = 'jobs' | 'log';

/** A store, and its tables as they are seen without it. */
type Ground = {
  readonly rig: Rig;
  readonly rows: (sql: string) => Promise<readonly Row[]>;
  /** What a table is called. */
  readonly named: (table: string) => string;
  /** From now on nothing can be written there. */
  readonly refuse: (table: Table) => Promise<unknown>;
  readonly allow: (table: Table) => Promise<unknown>;
  /** The condition that the status of a row must fulfil, as the database has it. */
  readonly condition: () => Promise<string>;
};

const GROUNDS: Readonly<Record<string, () => Promise<Ground>>> = {
  async SQLite() {
    const path = join(mkdtempSync(join(folder, 'case-')), 'pawl.db');
    const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
    const raw = await openDatabase(path);
    onTestFinished(async () => {
      raw.close();
      await rig.stop();
    });
    const rows = async (sql: string) => raw.prepare(sql).all();
    const onEach = (table: Table, make: (name: string, when: string) => string) =>
      raw.exec(['INSERT', 'UPDATE'].map((when) => make(`no_${when}_${table}`, when)).join(''));
    return {
      rig,
      rows,
      named: (table) => table,
      refuse: async (table) =>
        onEach(
          table,
          (name, when) =>
            `CREATE TRIGGER ${name} BEFORE ${when} ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END;`,
        ),
      allow: async (table) => onEach(table, (name) => `DROP TRIGGER ${name};`),
      async condition() {
        const [made] = await rows("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'jobs'");
        return /status TEXT NOT NULL CHECK \((.*)\),$/m.exec(String(made?.['sql']))?.[1] ?? '';
      },
    };
  },
  async Postgres() {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    onTestFinished(() => rig.stop());
    const rows = (sql: string) => ask<Row>(url, sql);
    await rows(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$",
    );
    return {
      rig,
      rows,
      named: (table) => `pawl.${table}`,
      refuse: (table) =>
        rows(`CREATE TRIGGER no BEFORE INSERT OR UPDATE ON pawl.${table} EXECUTE FUNCTION refuse()`),
      allow: (table) => rows(`DROP TRIGGER no ON pawl.${table}`),
      async condition() {
        const [made] = await rows(
          `SELECT pg_get_constraintdef(oid) AS condition FROM pg_constraint
           WHERE conrelid = 'pawl.jobs'::regclass AND contype = 'c'`,
        );
        return String(made?.['condition']);
      },
    };
  },
};

describe.each(Object.entries(GROUNDS))('on %s', (_name, open) => {
  test('RUN-6 a change of status and its event are saved both or neither, whichever of them fails', async () => {
    const { rig, rows, named, refuse, allow } = await open();
    const tables = ['jobs', 'log', 'dlq_items', 'outbox', 'identities'];
    const contents = () =>
      Promise.all(tables.map((table) => rows(`SELECT * FROM ${named(table)} ORDER BY 1, 2, 3`)));
    const heads = async (jobId: string) => {
      const [row] = await rows(`SELECT status, rev FROM ${named('jobs')} WHERE job_id = '${jobId}'`);
      return [row?.['status'], row?.['rev'], (await rig.commits(jobId)).length];
    };
    for (const jobId of ['job_done', 'job_dead', 'job_gone']) await rig.create(jobId);

    /** Tried while one of the two cannot be written, then while both can. */
    const change = async (make: () => Promise<unknown>) => {
      const before = await contents();
      for (const table of ['log', 'jobs'] as const) {
        await refuse(table);
        await expect(make()).rejects.toThrow('refused');
        await allow(table);
        expect([table, await contents()]).toEqual([table, before]);
      }
      await make();
    };
    const attempts = new Map<string, string>();
    await change(async () => {
      for (const { spec, attemptId } of (await rig.claim('worker-a')).jobs) {
        attempts.set(spec.jobId, attemptId ?? '');
      }
    });
    expect(await heads('job_done')).toEqual(['running', 2, 2]);
    const held = (jobId: string) => ({ attemptId: attempts.get(jobId) ?? '' });
    await change(() => rig.give('job_done', command('fail-attempt', held('job_done'))));
    expect(await heads('job_done')).toEqual(['retrying', 3, 3]);
    await change(() => rig.give('job_done', command('cancel')));
    expect(await heads('job_done')).toEqual(['cancelled', 4, 4]);
    // The item of a dead letter goes with them; and of several that are saved together each is whole.
    await change(async () =>
      rig.store.commit([
        await rig.prepare(
          'job_dead',
          command('fail-attempt', { ...held('job_dead'), failure: aFatalFailure }),
        ),
        await rig.prepare('job_gone', command('complete', held('job_gone'))),
      ]),
    );
    expect(await heads('job_dead')).toEqual(['failed', 3, 3]);
    expect(await heads('job_gone')).toEqual(['succeeded', 3, 3]);
    expect(await rows(`SELECT job_id FROM ${named('dlq_items')}`)).toEqual([{ job_id: 'job_dead' }]);
  });

  test('JOB-2 the states that a row may have are those of the machine and of the contract, and no other', async () => {
    const { rig, rows, named, condition } = await open();
    const words = (await condition()).match(/\b[a-z_]+\b(?=[ '])/g) ?? [];
    const constraint = words.filter((word) => !['status', 'text', 'instr'].includes(word)).toSorted();
    expect(constraint).toEqual([...STATUSES].toSorted());
    const inMachine = new Set(TRANSITIONS.map(({ to }) => to));
    expect([...inMachine].toSorted()).toEqual(constraint);
    const shown = jobsContract.machine.states.flatMap((state) => jobsContract.statusesOf(state));
    expect(shown.toSorted()).toEqual(constraint);

    await rig.create('job_states');
    const become = (status: string) => rows(`UPDATE ${named('jobs')} SET status = '${status}'`);
    for (const status of STATUSES) await become(status);
    for (const foreign of ['done', '', 'Queued', 'queue', 'retry_scheduled', 'canceled']) {
      await expect(become(foreign), foreign).rejects.toThrow(/constraint/i);
    }
    expect((await rows(`SELECT status FROM ${named('jobs')}`))[0]?.['status']).toBe(STATUSES.at(-1));
  });
});
