import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { JobSpec } from '../../src/kernel/index.js';
import type { JobList, ListFilter } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { storeFolder } from '../store-folder.js';

const folder = storeFolder('pawl-many-');
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** More than are looked through at a time. */
const CROWD = 10_400;

let files = 0;
type Ground = { readonly rig: Rig; readonly run: (sql: string) => Promise<unknown>; readonly jobs: string };

const GROUNDS = {
  async sqlite(): Promise<Ground> {
    const path = join(folder, `${files++}.db`);
    const run = async (sql: string): Promise<void> => {
      const db = await openDatabase(path);
      db.exec(sql);
      db.close();
    };
    return { rig: await Rig.start(({ clock }) => sqliteStore({ path, clock })), run, jobs: 'jobs' };
  },
  async postgres(): Promise<Ground> {
    const url = await server.createDatabase();
    const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
    return { rig, run: (sql) => ask(url, sql), jobs: 'pawl.jobs' };
  },
};

/** Many at once, which come to nothing but the state that they are said to be in. */
async function crowd(rig: Rig, name: string, spec: Partial<JobSpec>): Promise<void> {
  const ids = Array.from({ length: CROWD }, (_, n) => `job_${name}_${n}`);
  for (let from = 0; from < CROWD; from += 1_000) {
    const part = ids.slice(from, from + 1_000);
    const items = await Promise.all(part.map((id) => rig.prepare(id, rig.createCommand(id, spec))));
    await rig.store.commit(items);
  }
}

async function some(rig: Rig, name: string, spec: Partial<JobSpec>): Promise<void> {
  await rig.running(`job_${name}_running`, spec);
  await rig.create(`job_${name}_cancelled`, spec);
  await rig.give(`job_${name}_cancelled`, command('cancel'));
  await rig.create(`job_${name}_later`, { ...spec, scheduledAt: rig.clock.now() + 60_000 });
}

async function pages(rig: Rig, filter: Omit<ListFilter, 'limit' | 'cursor'>, limit: number) {
  const rows: JobList['rows'][number][] = [];
  for (let cursor: string | null = null; ;) {
    const page: JobList = await rig.store.list({ ...filter, limit, cursor });
    rows.push(...page.rows);
    cursor = page.next;
    if (cursor === null) return rows;
  }
}

test.each(Object.entries(GROUNDS))(
  'few among many are found wherever they are, and all are counted, on %s',
  async (_store, open) => {
    const { rig, run, jobs } = await open();
    onTestFinished(() => rig.stop());
    await some(rig, 'old', { tenantId: 'acme', task: 'mail' });
    await some(rig, 'usual', { tenantId: 'default' });
    await crowd(rig, 'acme', { tenantId: 'acme' });
    await some(rig, 'between', { tenantId: 'globex' });
    await crowd(rig, 'default', { tenantId: 'default' });
    const compare = async (): Promise<void> => {
      const all = (
        await rig.store.list({ tenantId: null, statuses: null, task: null, limit: 50_000, cursor: null })
      ).rows;
      expect(all).toHaveLength(2 * CROWD + 9);
      for (const tenantId of [null, 'acme', 'globex', 'default']) {
        const own = all.filter((row) => tenantId === null || row.tenantId === tenantId);
        for (const statuses of [
          ['running'],
          ['cancelled'],
          ['scheduled', 'cancelled'],
          ['running', 'scheduled'],
        ] as const) {
          const fits = own.filter(({ status }) => statuses.some((one) => one === status));
          expect(await pages(rig, { tenantId, statuses, task: null }, 2)).toEqual(fits);
        }
        expect(await pages(rig, { tenantId, statuses: null, task: 'mail' }, 2)).toEqual(
          own.filter(({ task }) => task === 'mail'),
        );
        const { counts } = await rig.store.counts({ tenantId });
        const statuses = [...new Set(own.map(({ status }) => status))];
        const counted = statuses.map((one) => [one, own.filter(({ status }) => status === one).length]);
        expect(counts).toEqual(Object.fromEntries(counted));
      }
      const mine = all.filter(({ tenantId }) => tenantId === 'acme');
      expect(await pages(rig, { tenantId: 'acme', statuses: null, task: null }, 1_999)).toEqual(mine);
    };
    // First all of them wait for a worker, then all have ended.
    await compare();
    await run(
      `UPDATE ${jobs} SET status = 'succeeded', finished_at = 1, due_at = NULL, ready = false WHERE status = 'queued'`,
    );
    await compare();
  },
);

test('a job that ends while a list is put together is in it once, on sqlite', async () => {
  const { rig, run, jobs } = await GROUNDS.sqlite();
  onTestFinished(() => rig.stop());
  await some(rig, 'old', { task: 'mail' });
  await crowd(rig, 'many', {});
  await run(
    `UPDATE ${jobs} SET status = 'cancelled', finished_at = 1, due_at = NULL, ready = false WHERE status = 'queued'`,
  );
  const filter = {
    tenantId: null,
    statuses: ['running', 'cancelled'],
    task: 'mail',
    limit: 10,
    cursor: null,
  } as const;
  let isListed = false;
  const listing = rig.store.list(filter).then(({ rows }) => {
    isListed = true;
    return rows;
  });
  await rig.give('job_old_running', command('cancel'));
  expect(isListed).toBe(false);
  expect((await listing).map(({ jobId, status }) => `${jobId} ${status}`)).toEqual([
    'job_old_cancelled cancelled',
    'job_old_running cancelled',
  ]);
});
