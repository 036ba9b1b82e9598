/**
 * How fast Pawl is, on each store: `npm run bench`, `npm run bench -- --help`. Beside it, in the same run, the raw database
 * does the least SQL for the same work. Figures of one machine mean little; ratios within one run do.
 */
import type { Options } from './harness/options.js';
import { aboutHere, report } from './harness/report.js';
import { runRounds, type Found, type Subject } from './harness/rounds.js';
import { runBench, type Ground } from './harness/run-bench.js';
import { hasRaw, pawlOn, rawOn } from './subjects.js';
import type { Workload } from './workloads/workload.js';

function subjectsOf({ stores, profiles }: Options, workload: Workload): Subject[] {
  return stores.flatMap((store) => {
    if (workload.apart && store === 'memory') return [];
    const ours = { id: pawlOn(store), on: store, profiles: profiles ?? undefined };
    return hasRaw(store, workload) ? [ours, { id: rawOn(store), on: store }] : [ours];
  });
}

async function bench(options: Options, { databases }: Ground): Promise<boolean> {
  const { rounds, scale, stores } = options;
  const about = aboutHere();
  if (stores.includes('postgres')) about.push(`Postgres: ${await databases.postgresSettings()}`);
  if (stores.includes('sqlite')) about.push('SQLite: journal_mode WAL, synchronous FULL');
  const found: Found[] = [];
  for (const workload of options.workloads) {
    const subjects = subjectsOf(options, workload);
    found.push(...(await runRounds(databases, { workload, subjects, rounds, scale }, console.error)));
  }
  return report({ options, found, about });
}

await runBench(bench);
