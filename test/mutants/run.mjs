/**
 * Plants each mutant in turn and runs the unit tests: `npm run mutants [-- number …]`, or `-- --every 3` for each third of
 * them, as CI does. Exit 1 if one survives.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { MUTANTS } from './mutants.mjs';

const WORKERS = 2;
const LIMIT_MS = 60_000;
const args = process.argv.slice(2);
const every = args[0] === '--every' ? Number(args[1]) : 1;
const chosen = args[0] === '--every' ? [] : args.map(Number);
const queue = MUTANTS.map((mutant, index) => ({ ...mutant, index })).filter(({ index }) =>
  chosen.length === 0 ? index % every === 0 : chosen.includes(index),
);

for (const [index, { file, from }] of MUTANTS.entries()) {
  const found = readFileSync(file, 'utf8').split(from).length - 1;
  if (found !== 1) {
    console.error(`mutant ${index}: its text stands ${found} times in ${file}, not once:\n  ${from}`);
    process.exit(1);
  }
}

/** Caught: the tests failed. A run that could not start, or never ended, has proved nothing. */
function plant(index) {
  return new Promise((resolve) => {
    const run = spawn('node_modules/.bin/vitest', ['run', '--config', 'test/mutants/vitest.config.mjs'], {
      env: { ...process.env, PAWL_MUTANT: String(index), NO_COLOR: '1' },
      timeout: LIMIT_MS,
    });
    let output = '';
    run.stdout.on('data', (chunk) => (output += chunk));
    run.stderr.on('data', (chunk) => (output += chunk));
    run.on('close', (code) => {
      const ran = /Tests\s.*\d+ (passed|failed)/.test(output);
      resolve(!ran ? 'broken' : code === 0 ? 'survived' : 'caught');
    });
  });
}

const failures = [];
let done = 0;
const total = queue.length;
async function work() {
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const verdict = await plant(mutant.index);
    done += 1;
    if (verdict !== 'caught') failures.push({ ...mutant, verdict });
    console.log(
      `${String(done).padStart(3)}/${total} ${verdict.padEnd(8)} ${mutant.breaks} (${mutant.file})`,
    );
  }
}
await Promise.all(Array.from({ length: WORKERS }, work));

for (const { index, verdict, breaks, file } of failures)
  console.error(`mutant ${index} ${verdict}: ${breaks} (${file})`);
console.log(`mutants: ${total - failures.length} of ${total} caught`);
process.exit(failures.length === 0 ? 0 : 1);
