import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answer, Assignment } from './subject-process.js';

const SCRIPT = fileURLToPath(new URL('subject-process.js', import.meta.url));

/** Room for a million jobs in the memory store. */
const HEAP_MB = 8_192;
/** What docs/performance.md advises for a busy process. Everyone gets it. */
export const COLLECTOR = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring'];
const NODE_OPTIONS = ['--expose-gc', '--no-warnings', `--max-old-space-size=${HEAP_MB}`, ...COLLECTOR];

export type Apart = {
  /** Another Node than this one. */
  readonly node?: string | undefined;
  /** When it is taken to hang. */
  readonly limitMs?: number;
  /** A folder for CPU profiles. */
  readonly profiles?: string | undefined;
};

/** Runs one measurement in a process of its own, so that no subject inherits another's heap or compiled code. */
export function runApart(assignment: Assignment, { node, profiles, limitMs }: Apart): Promise<Answer> {
  const profiling = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
  const child = fork(SCRIPT, [JSON.stringify(assignment)], {
    execArgv: [...NODE_OPTIONS, ...profiling],
    ...(node === undefined ? {} : { execPath: node }),
    // Systems that talk while they work would talk into the table.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(limitMs === undefined ? {} : { timeout: limitMs, killSignal: 'SIGKILL' as const }),
  });
  return new Promise((resolve) => {
    let answer: Answer | null = null;
    child.once('message', (message) => {
      answer = message as Answer;
    });
    child.once('error', ({ message }) => resolve({ reason: message }));
    child.once('exit', (code, signal) =>
      resolve(answer ?? { reason: `its process ended with ${signal ?? code}, without an answer` }),
    );
  });
}
