/**
 * What each limit costs: `npm run bench:limits` (`-- sqlite`, `-- --jobs=5000`). A backlog of no-op jobs is drained by one
 * worker, without limits and under each of them. Every limit is so wide that it holds nothing up: what is measured is the
 * price of looking. Kinds alternate, and the best rounds are compared: whatever else the machine does only ever slows one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pawl, task, type Task } from '../../src/index.js';
import { startPostgres } from '../../test/postgres-server.js';
import { pause } from '../harness/pause.js';
import { median, rateOf } from '../harness/statistics.js';

const args = process.argv.slice(2);
const jobs = Number(args.find((arg) => arg.startsWith('--jobs='))?.slice(7) ?? 5_000);
const named = args.filter((arg) => !arg.startsWith('--'));
const ROUNDS = 5;
const TENANTS = 10;
const KEYS = 50;
const WIDE = 100_000;

const keyOf = (input: unknown): string => `k${Number(input) % KEYS}`;

/** By what is limited. Each has jobs of ten tenants. */
const KINDS: Readonly<Record<string, Task<unknown, unknown>>> = {
  none: task({ name: 'none' }, () => null),
  'a concurrency key': task({ name: 'key', concurrency: { key: keyOf, limit: WIDE } }, () => null),
  'concurrency per tenant': task({ name: 'tenant', concurrency: { perTenant: WIDE } }, () => null),
  'key and tenant': task(
    { name: 'both', concurrency: { key: keyOf, limit: WIDE, perTenant: WIDE } },
    () => null,
  ),
  'a rate': task({ name: 'rate', rateLimit: { limit: WIDE, per: '1m' } }, () => null),
  'a rate per tenant': task(
    { name: 'tenant-rate', rateLimit: { limit: WIDE, per: '1m', perTenant: true } },
    () => null,
  ),
  priorities: task({ name: 'priorities' }, () => null),
};

async function drain(url: string, kind: string, one: Task<unknown, unknown>): Promise<number> {
  const app = await pawl({ store: url, tasks: [one] });
  try {
    for (let from = 0; from < jobs; from += 1_000) {
      const count = Math.min(1_000, jobs - from);
      const starts = Array.from({ length: count }, (_, n) => ({
        input: from + n,
        options: { tenantId: `tenant-${n % TENANTS}`, priority: kind === 'priorities' ? n % 10 : 0 },
      }));
      await app.startMany(one, starts);
    }
    return await rateOf(jobs, async () => {
      await app.work({ concurrency: 500, stopOnSignal: false, drain: 0 });
      while ((await app.counts()).succeeded !== jobs) await pause(5);
    });
  } finally {
    await app.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'pawl-limits-'));
let opened = 0;
for (const store of named.length > 0 ? named : ['sqlite', 'postgres']) {
  const server = store === 'postgres' ? await startPostgres() : null;
  const rates = new Map<string, number[]>(Object.keys(KINDS).map((kind) => [kind, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, one] of Object.entries(KINDS)) {
      const url = server ? await server.createDatabase() : `sqlite:${join(folder, `${opened++}.db`)}`;
      rates.get(kind)?.push(await drain(url, kind, one));
      if (process.stderr.isTTY) process.stderr.write(`\r${store}, round ${round + 1}: ${kind}\u001b[K`);
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  console.log(`${store}, ${jobs.toLocaleString('en')} jobs, ${ROUNDS} rounds`);
  const plain = Math.max(...(rates.get('none') ?? []));
  for (const [kind, all] of rates) {
    const best = Math.max(...all);
    const shown = [best, median(all)].map((rate) => `${Math.round(rate).toLocaleString('en')}/s`.padStart(9));
    console.log(
      `  ${kind.padEnd(24)} best ${shown[0]}, median ${shown[1]}, ratio ${(best / plain).toFixed(2)}`,
    );
  }
  await server?.stop();
}
rmSync(folder, { recursive: true });
