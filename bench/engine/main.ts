/**
 * The engine with its worker, on each store: `npm run bench:engine`, or with `-- sqlite`, `-- --jobs=5000`.
 * Figures of one machine mean little; ratios between runs of one machine do.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres-server.js';
import * as workloads from './workloads.js';
import type { Measure } from './workloads.js';

const args = process.argv.slice(2);
const jobs = Number(args.find((arg) => arg.startsWith('--jobs='))?.slice(7) ?? 10_000);
const named = args.filter((arg) => !arg.startsWith('--'));
const stores = named.length > 0 ? named : ['memory', 'sqlite', 'postgres'];

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const server = stores.includes('postgres') ? await startPostgres() : null;
let opened = 0;

async function url(store: string): Promise<string> {
  opened += 1;
  if (store === 'sqlite') return `sqlite:${join(folder, `${opened}.db`)}`;
  return server ? server.createDatabase() : 'memory:';
}

async function measure(store: string): Promise<Measure[]> {
  const fresh = () => url(store);
  const few = Math.max(100, jobs / 10);
  const shared =
    store === 'memory'
      ? []
      : [
          await workloads.drain(await fresh(), jobs, 'noop'),
          await workloads.drain(await fresh(), few * 2, 'five-steps'),
        ];
  return [
    await workloads.singleStarts(await fresh(), jobs),
    await workloads.bulkStarts(await fresh(), jobs),
    ...shared,
    await workloads.sequentialSteps(await fresh(), 100),
    await workloads.sequentialSteps(await fresh(), 1_000),
    await workloads.sequentialSteps(await fresh(), 5_000),
    ...(await workloads.pickUp(await fresh(), 300)),
    await workloads.signals(await fresh(), 1_000),
    await workloads.inFlight(await fresh(), store === 'memory' ? 1_000 : jobs),
  ];
}

try {
  for (const store of stores) {
    console.log(`\n${store}`);
    for (const { name, value, unit } of await measure(store)) {
      console.log(
        `  ${name.padEnd(36)} ${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)}${unit}`,
      );
    }
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true });
}
