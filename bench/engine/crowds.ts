/**
 * What a crowd does to those beside it: `npm run bench:crowds` (`-- sqlite`, `-- --jobs=100000`).
 *
 * - A tenant has a million jobs queued, and the worker is busy with them; another tenant starts one. How long until it
 *   has run? Bar: 2 s.
 * - A hundred thousand jobs sleep until one and the same millisecond. How long until all have run, is none lost or run
 *   twice, and how long does a new job take that is started in the middle of it? Bar: 2 s.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pawl, task, type Pawl, type Task } from '../../src/index.js';
import { startPostgres } from '../../test/postgres-server.js';
import { pause } from '../harness/pause.js';

const BAR_MS = 2_000;
const args = process.argv.slice(2);
const crowd = Number(args.find((arg) => arg.startsWith('--jobs='))?.slice(7) ?? 1_000_000);
const named = args.filter((arg) => !arg.startsWith('--'));

const runs = new Map<number, number>();
const noop = task({ name: 'noop' }, () => null);
const sleeper = task({ name: 'sleeper' }, ({ input }) => {
  runs.set(input as number, (runs.get(input as number) ?? 0) + 1);
});

async function startAll(
  app: Pawl,
  one: Task<unknown, unknown>,
  count: number,
  options: object,
): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const jobs = Array.from({ length: Math.min(1_000, count - from) }, (_, n) => ({
      input: from + n,
      options,
    }));
    await app.startMany(one, jobs);
    if (from % 100_000 === 0) process.stderr.write(`\r${from} started `);
  }
  process.stderr.write('\r\u001b[K');
}

async function timeOf(app: Pawl, tenantId: string): Promise<number> {
  const startedAt = performance.now();
  const { job } = await app.start(noop, -1, { tenantId });
  await job.result({ timeout: '120s' });
  return performance.now() - startedAt;
}

async function measure(url: string): Promise<boolean> {
  const app = await pawl({ store: url, tasks: [noop, sleeper] });
  try {
    await startAll(app, noop, crowd, { tenantId: 'noisy' });
    await app.work({ concurrency: 200, stopOnSignal: false, drain: 0 });
    const alone: number[] = [];
    for (let n = 0; n < 20; n++) alone.push(await timeOf(app, `quiet-${n}`));
    await app.stop();
    const slowest = Math.max(...alone);
    console.log(
      `  one job beside ${crowd.toLocaleString('en')} of another tenant: slowest of 20 ${slowest.toFixed(0)} ms`,
    );

    const timers = Math.min(crowd, 100_000);
    const dueAt = Date.now() + 20_000 + timers / 5;
    await startAll(app, sleeper, timers, { tenantId: 'herd', runAt: dueAt });
    await app.work({ concurrency: 500, queues: ['default'], stopOnSignal: false, drain: 0 });
    while (runs.size === 0) await pause(20);
    const beganAt = performance.now();
    const beside = await timeOf(app, 'newcomer');
    while (runs.size < timers) await pause(50);
    const took = (performance.now() - beganAt) / 1_000;
    const twice = [...runs.values()].filter((count) => count > 1).length;
    console.log(
      `  ${timers.toLocaleString('en')} timers of one millisecond: ${took.toFixed(1)} s, ${twice} ran twice, a new job beside them ${beside.toFixed(0)} ms`,
    );
    return slowest < BAR_MS && beside < BAR_MS && twice === 0;
  } finally {
    runs.clear();
    await app.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'pawl-crowds-'));
let passed = true;
for (const store of named.length > 0 ? named : ['sqlite', 'postgres']) {
  console.log(store);
  const server = store === 'postgres' ? await startPostgres() : null;
  const url = server ? await server.createDatabase() : `sqlite:${join(folder, 'crowds.db')}`;
  passed = (await measure(url)) && passed;
  await server?.stop();
}
rmSync(folder, { recursive: true });
process.exitCode = passed ? 0 : 1;
