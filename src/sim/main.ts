import { execFileSync, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hunt } from './bugs/hunt.js';
import { explore } from './exhaustive/explore.js';
import { keep, runKept } from './kept-seeds.js';
import { ENOUGH_SEEDS, neverHit } from './never-hit.js';
import { checkCi, hashesOf } from './ci.js';
import { planOf } from './plan.js';
import { report, progress } from './report.js';
import { runSeeds, together, type Summary } from './run-seeds.js';
import { shrink } from './shrink.js';
import { simulate } from './simulation.js';

const HERE = fileURLToPath(import.meta.url);
/** Where the sources are, whether they run from themselves or compiled. */
const ROOT = HERE.slice(0, HERE.lastIndexOf(`${sep}src${sep}`)).replace(/[\\/]\.build.*$/, '');
const KEPT = join(ROOT, 'test', 'sim', 'seeds.json');

/** A schedule leaves nothing behind: with room for what dies young, the collector has a third less to do. */
const SHORT_LIVED = '--max-semi-space-size=64';

const HELP = `Usage: npm run sim -- [options]

Runs the engine in simulated worlds full of faults, and checks every invariant.

  --seeds <n>          how many schedules (default 1000, or as many as --seconds allows)
  --from <seed>        the first of them (default 1)
  --seconds <n>        for so long
  --cores <n>          in so many processes (default: one for each core)
  --stop-at-failure    end at the first failure
  --seed <seed>        tell the story of one schedule
  --kept               the seeds that once failed (test/sim/seeds.json)
  --exhaustive         every interleaving of two workers, two jobs, a crash and an expired lease
  --bugs               plant every bug and hunt it (--seeds: within so many, default 10000)
  --bug <name>         plant this one
  --hashes             the trace hashes of the seeds, to compare with another run's
  --ci                 what CI checks: kept seeds, equal hashes, some of the planted bugs; then seeds
  --json               one line of JSON

Exit code 1: an invariant was broken, a fault or feature was never met, or too many bugs survived.`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    cores: { type: 'string' },
    json: { type: 'boolean', default: false },
    /** Tells the story of one seed. */
    seed: { type: 'string' },
    bug: { type: 'string' },
    bugs: { type: 'boolean', default: false },
    exhaustive: { type: 'boolean', default: false },
    kept: { type: 'boolean', default: false },
    /** The trace hashes of seeds, to be compared with another process's. */
    hashes: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    'stop-at-failure': { type: 'boolean', default: false },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

async function main(): Promise<boolean> {
  if (values.help) {
    print(HELP);
    return true;
  }
  if (values.seed !== undefined) return tellStory(Number(values.seed));
  if (values.exhaustive) return explore(print);
  if (values.kept) return runAllKept();
  if (values.hashes) {
    print(JSON.stringify(await hashesOf(Number(values.from), number(values.seeds) ?? 1)));
    return true;
  }
  if (values.ci && !(await checkCi({ main: HERE, kept: KEPT, compiled: dirname(dirname(HERE)), print })))
    return false;
  if (values.bugs || values.bug !== undefined) {
    const seeds = number(values.seeds) ?? 10_000;
    const hunted = await hunt({
      compiled: dirname(dirname(HERE)),
      only: values.bug === undefined ? null : [values.bug],
      seeds,
      print: values.json ? (line) => process.stderr.write(`${line}\n`) : print,
    });
    if (values.json) print(JSON.stringify(hunted));
    return hunted.isEnough;
  }
  const summary = await run();
  if (values.json) print(JSON.stringify(summary));
  else print(report(summary));
  if (!values.json) for (const failure of summary.failures.slice(0, 3)) await tellFailure(failure);
  const missed = summary.seeds >= ENOUGH_SEEDS ? neverHit(summary.hits) : [];
  for (const key of missed) process.stderr.write(`never met: ${key}\n`);
  return summary.failures.length === 0 && missed.length === 0;
}

async function run(): Promise<Summary> {
  const seeds = number(values.seeds) ?? (values.seconds === undefined ? 1_000 : null);
  const cores = number(values.cores) ?? (values.json ? 1 : availableParallelism());
  const from = Number(values.from);
  if (cores === 1) {
    return runSeeds({
      from,
      seeds,
      seconds: number(values.seconds),
      stopAtFailure: values['stop-at-failure'],
      onProgress: (summary) => values.json || process.stderr.write(`${progress(summary)}\n`),
    });
  }
  const share = seeds === null ? null : Math.ceil(seeds / cores);
  const parts = Array.from({ length: cores }, (_, core) =>
    elsewhere(from + core * (share ?? 100_000_000), share),
  );
  return together(await Promise.all(parts));
}

/** The same, in a process of its own. */
function elsewhere(from: number, seeds: number | null): Promise<Summary> {
  const asked = ['--json', '--cores', '1', '--from', `${from}`];
  if (seeds !== null) asked.push('--seeds', `${seeds}`);
  if (values.seconds !== undefined) asked.push('--seconds', values.seconds);
  if (values['stop-at-failure']) asked.push('--stop-at-failure');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SHORT_LIVED, HERE, ...asked], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('error', reject);
    child.on('close', () => {
      if (text === '') reject(new Error('a process of the simulator ended without an answer'));
      else resolve(JSON.parse(text) as Summary);
    });
  });
}

async function tellStory(seed: number): Promise<boolean> {
  const { breaches, traceHash } = await simulate(planOf(seed), { tell: print });
  print(`trace ${traceHash}`);
  for (const { invariant, problem, decision } of breaches)
    print(`invariant ${invariant} at decision ${decision}: ${problem}`);
  return breaches.length === 0;
}

/** What is needed to find it again, and to understand it; and it is kept for ever. */
async function tellFailure({ plan, outcome }: Summary['failures'][number]): Promise<void> {
  const [breach] = outcome.breaches;
  if (breach === undefined) return;
  const commit = revision();
  print(`seed ${plan.seed} at commit ${commit}: invariant ${breach.invariant}: ${breach.problem}`);
  const short = await shrink(plan);
  print(
    `it takes ${short.faults.length} faults, ${short.operations.length} operations and ${short.workers.length} workers:`,
  );
  await simulate(short, { tell: print });
  keep(KEPT, { plan: short, invariant: breach.invariant, problem: breach.problem, commit });
  print(`kept in ${KEPT}`);
}

async function runAllKept(): Promise<boolean> {
  const failing = await runKept(KEPT);
  for (const { plan, problem } of failing) print(`seed ${plan.seed} fails again: ${problem}`);
  return failing.length === 0;
}

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // No repository around: a copy, or an installed package.
    return 'unknown';
  }
}

process.exitCode = (await main()) ? 0 : 1;
