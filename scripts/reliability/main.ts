/**
 * The long mode: seeds for a stated time on every core, chaos with so many kills on both stores, planted bugs if they are
 * asked for; and docs/reliability.md with what came of it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Hunted } from '../../src/sim/bugs/hunt.js';
import { ENOUGH_SEEDS, neverHit } from '../../src/sim/never-hit.js';
import type { Summary } from '../../src/sim/run-seeds.js';
import type { ChaosResult } from '../../test/chaos/chaos.js';
import { revision, thisMachine } from './machine.js';
import { holds, reliabilityPage, type Run } from './page.js';

/** More would leave no time between kills in which anything gets done. */
const KILLS_A_MINUTE = 25;
const WORKERS = 4;

const { values } = parseArgs({
  options: {
    /** For how long seeds are run. */
    seconds: { type: 'string', default: '3600' },
    from: { type: 'string' },
    /** On both stores together. */
    kills: { type: 'string', default: '1000' },
    'chaos-minutes': { type: 'string' },
    /** Plants every bug and hunts it, which takes as long again. */
    bugs: { type: 'boolean', default: false },
    'bug-seeds': { type: 'string', default: '10000' },
    page: { type: 'string', default: 'docs/reliability.md' },
  },
});

const pathOf = (program: string) => fileURLToPath(new URL(`../../${program}`, import.meta.url));

/** What a program of ours says as JSON, whatever its exit code. What it tells on the way is passed on. */
function ask<T>(program: string, args: readonly string[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [pathOf(program), ...args, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (said === '') reject(new Error(`${program} ended with ${code} and no answer`));
      else resolve(JSON.parse(said) as T);
    });
  });
}

const seconds = Number(values.seconds);
const kills = Math.ceil(Number(values.kills) / 2);
const minutes = Number(values['chaos-minutes'] ?? Math.max(0.5, kills / KILLS_A_MINUTE));
// Others than last time, unless they are named.
const from = Number(values.from ?? 1_000_000 + Math.floor(Math.random() * 1_000_000) * 1_000);

const { commit, isClean } = revision(values.page);
process.stderr.write(`seeds from ${from} on for ${seconds} s\n`);
const cores = availableParallelism();
const summary = await ask<Summary>('src/sim/main.js', [
  '--seconds',
  `${seconds}`,
  '--from',
  `${from}`,
  '--cores',
  `${cores}`,
]);
const chaos: ChaosResult[] = [];
for (const store of ['sqlite', 'postgres']) {
  const options = [
    '--store',
    store,
    '--minutes',
    `${minutes}`,
    '--kills',
    `${kills}`,
    '--workers',
    `${WORKERS}`,
  ];
  chaos.push(...(await ask<ChaosResult[]>('test/chaos/main.js', options)));
}
const hunted = values.bugs
  ? await ask<Hunted>('src/sim/main.js', ['--bugs', '--seeds', values['bug-seeds']])
  : null;

// Where the page went is nobody's business.
const asked = process.argv
  .slice(2)
  .filter((word, index, all) => word !== '--page' && all[index - 1] !== '--page');
const failures = summary.failures.map(({ plan }) => plan.seed);
const run: Run = {
  date: new Date().toISOString().slice(0, 10),
  commit,
  isClean,
  command: ['npm run reliability --', ...asked].join(' '),
  machine: thisMachine(),
  from,
  seconds,
  seeds: { ...summary, failures },
  chaos,
  hunted,
};
writeFileSync(values.page, reliabilityPage(run));
execFileSync('npm', ['run', '--silent', 'format', '--', values.page], { stdio: 'inherit' });
const missed = summary.seeds >= ENOUGH_SEEDS ? neverHit(summary.hits) : [];
for (const key of missed) process.stderr.write(`never met: ${key}\n`);
for (const seed of failures)
  process.stderr.write(
    `seed ${seed} fails; npm run sim -- --cores 1 --seeds 1 --from ${seed} shrinks and keeps it\n`,
  );
for (const { breaches, store, kept } of chaos)
  for (const { invariant, problem } of breaches)
    process.stderr.write(`chaos on ${store}: invariant ${invariant}: ${problem}; see ${kept}\n`);
process.exitCode = holds(run) && missed.length === 0 ? 0 : 1;
