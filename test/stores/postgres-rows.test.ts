import { afterAll, beforeAll, expect, test } from 'vitest';
import { pawl, task } from '../../src/index.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test('a job costs as many rows read as the first, although every statement was planned before there was one', async () => {
  const url = await server.createDatabase();
  const JOBS = 300;
  const job = task({ name: 'job' }, async ({ step }) => step.run('step', () => 1));
  const app = await pawl({ store: url, tasks: [job] });
  await app.work({ stopOnSignal: false });
  for (let n = 0; n < JOBS; n++) await (await app.start(job, n)).job.result();
  // Connections tell what they have read when they end.
  await app.close();
  const read = await ask<{ name: string; rows: number }>(
    url,
    `SELECT indexrelname AS name, idx_tup_read::int AS rows FROM pg_stat_user_indexes WHERE schemaname = 'pawl'
     UNION ALL SELECT relname, seq_tup_read::int FROM pg_stat_user_tables WHERE schemaname = 'pawl' AND relname IN ('jobs', 'log')`,
  );
  const perJob = Object.fromEntries(read.map(({ name, rows }) => [name, Math.floor(rows / JOBS)]));
  expect(Math.max(...Object.values(perJob)), JSON.stringify(perJob)).toBeLessThan(30);
});

test('what lists the jobs that were created together goes with the last of them; an id that is used again is listed once', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const create = async (...jobIds: string[]) =>
    rig.store.commit(await Promise.all(jobIds.map((id) => rig.prepare(id, rig.createCommand(id)))));
  const purge = async (...jobIds: string[]) => {
    for (const jobId of jobIds) await rig.give(jobId, command('cancel'));
    const jobs = jobIds.map((jobId) => ({ jobId, guard: null }));
    return (await rig.store.purge({ jobs, identityTtlMs: 0 })).jobs;
  };
  const filter = { tenantId: null, statuses: null, task: null, limit: 10, cursor: null };
  const listed = async () => (await rig.store.list(filter)).rows.map(({ jobId }) => jobId);
  const fed = async () =>
    (await rig.store.feed({ after: null, limit: 10 })).rows.map(({ jobId, rev }) => `${jobId} ${rev}`);
  const kept = async () =>
    (await ask<{ job_ids: string[] }>(url, 'SELECT job_ids FROM pawl.created ORDER BY xid')).map(
      ({ job_ids }) => job_ids.length,
    );

  await create('job_made_a', 'job_made_b', 'job_made_c');
  expect(await kept()).toEqual([3]);
  expect(await purge('job_made_a', 'job_made_b')).toBe(2);
  await create('job_made_b');
  expect([await kept(), await listed(), await fed()]).toEqual([
    [3, 1],
    ['job_made_b', 'job_made_c'],
    ['job_made_c 1', 'job_made_b 1'],
  ]);
  expect(await purge('job_made_c')).toBe(1);
  expect([await kept(), await listed(), await fed()]).toEqual([[1], ['job_made_b'], ['job_made_b 1']]);
  await rig.stop();
});
