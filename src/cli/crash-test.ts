import { spawn } from 'node:child_process';
import { openStore } from '../client/open-store.js';
import { systemClock } from '../client/system-clock.js';
import { findLosses, workUntilKilled, type Acknowledged } from '../testkit/conformance/index.js';
import type { Console } from './console.js';

/** How to run this program again: an executable and its arguments. */
export type Self = readonly [string, ...string[]];

const WRITERS = 2;
/** Lines of acknowledgements after which a writer is killed, wherever it is just then. */
const LINES = 40;

/** Where a writer finds the address of its store: a command line is shown to every user of the machine, with the password. */
export const STORE_VARIABLE = 'PAWL_CRASH_STORE';

/** The hidden command that `crashTest` starts: works until it is killed, one line for what each reply acknowledged. */
export async function crashWriter(
  console: Console,
  { store: url, prefix }: { store: string; prefix: string },
): Promise<never> {
  const store = await openStore(url, { clock: systemClock });
  return workUntilKilled(store, {
    prefix,
    report: (acknowledged) => console.out(`${JSON.stringify(acknowledged)}\n`),
  });
}

/** Kills processes in the middle of their writing, several times, and answers with what the store lost or spoilt. */
export async function crashTest(
  self: Self,
  { store: url, rounds }: { store: string; rounds: number },
): Promise<{ readonly acknowledged: number; readonly losses: readonly string[] }> {
  const acknowledged: Acknowledged[] = [];
  for (let round = 0; round < rounds; round++) {
    const writers = Array.from({ length: WRITERS }, (_, i) => killedWriter(self, url, `w${round}${'ab'[i]}`));
    acknowledged.push(...(await Promise.all(writers)).flat());
  }
  const store = await openStore(url, { clock: systemClock });
  const losses = await findLosses(store, acknowledged);
  await store.close();
  return { acknowledged: acknowledged.length, losses };
}

function killedWriter([executable, ...args]: Self, url: string, prefix: string): Promise<Acknowledged[]> {
  return new Promise((resolve, reject) => {
    const writer = spawn(executable, [...args, 'crash-writer', prefix], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [STORE_VARIABLE]: url },
    });
    let [output, complaints] = ['', ''];
    writer.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.split('\n').length > LINES) writer.kill('SIGKILL');
    });
    writer.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    writer.on('close', (_, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`a writer ended by itself: ${complaints}`));
      // A line that the kill cut short acknowledged nothing to anyone.
      resolve(
        output
          .split('\n')
          .slice(0, -1)
          .flatMap((line) => JSON.parse(line) as Acknowledged[]),
      );
    });
  });
}
