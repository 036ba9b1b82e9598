import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runChaos, type ChaosResult } from './chaos.js';
import { plantIn } from './plant-in.js';
import type { StoreKind } from './ground.js';

const BUILD = fileURLToPath(new URL('../../', import.meta.url));

const { values } = parseArgs({
  options: {
    /** Both, one after the other, unless one is named. */
    store: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    workers: { type: 'string', default: '3' },
    kills: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '20' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    /** One of the simulator's bugs, planted in what runs: it must be noticed. */
    bug: { type: 'string' },
  },
});

function number(option: 'minutes' | 'workers' | 'kills' | 'per-second', least: number): number {
  const value = Number(values[option]);
  if (!(value >= least)) throw new Error(`--${option} must be a number of at least ${least}`);
  return value;
}

async function main(): Promise<boolean> {
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const stores: readonly StoreKind[] =
    values.store === 'sqlite' || values.store === 'postgres' ? [values.store] : ['sqlite', 'postgres'];
  if (values.store !== undefined && stores.length > 1) throw new Error('--store is sqlite or postgres');
  const planted = values.bug === undefined ? null : plantIn(BUILD, values.bug);
  const results: ChaosResult[] = [];
  try {
    for (const store of stores)
      results.push(
        await runChaos({
          store,
          seed,
          minutes: number('minutes', 0.05),
          workers: number('workers', 1),
          kills: number('kills', 0),
          perSecond: number('per-second', 1),
          build: planted?.build ?? BUILD,
          print: (line) => process.stderr.write(`${line}\n`),
        }),
      );
  } finally {
    planted?.uproot();
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results)}\n`);
  else for (const result of results) process.stdout.write(report(result));
  return results.every(({ breaches }) => breaches.length === 0);
}

/** Of very many the first: what follows from them says little. */
const MOST_TOLD = 20;

function report({
  store,
  seed,
  seconds,
  jobs,
  acknowledged,
  faults,
  outside,
  breaches,
  kept,
  ...rest
}: ChaosResult): string {
  const { starts, signals, cancels, requeues } = acknowledged;
  const lines = [
    `${store}, seed ${seed}: ${jobs} jobs in ${seconds} s`,
    `  acknowledged: ${starts} starts, ${signals} signals, ${cancels} cancels, ${requeues} requeues; ${rest.httpRetries} requests sent again`,
    `  faults: ${Object.entries(faults)
      .map(([what, count]) => `${count} × ${what}`)
      .join(', ')}`,
    `  outside: ${outside.entered} bodies entered, ${outside.happened} effects happened, ${outside.late} of them late`,
    `  limits: ${rest.limits.looks} looks, a key full in ${rest.limits.full}`,
    breaches.length === 0
      ? '  every invariant holds'
      : `  ${breaches.length} BREACHES; its files are in ${kept}`,
    ...breaches.slice(0, MOST_TOLD).map(({ invariant, problem }) => `  invariant ${invariant}: ${problem}`),
  ];
  return `${lines.join('\n')}\n`;
}

process.exitCode = (await main()) ? 0 : 1;
