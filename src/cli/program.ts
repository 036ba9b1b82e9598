import { Command, CommanderError } from 'commander';
import { registerApply } from './commands/apply.js';
import { registerConformance } from './commands/conformance.js';
import { registerCrashWriter } from './commands/crash-writer.js';
import { registerDev } from './commands/dev.js';
import { registerDlq } from './commands/dlq.js';
import { registerDoctor } from './commands/doctor.js';
import { registerEffects } from './commands/effects.js';
import { registerExport } from './commands/export.js';
import { registerGate } from './commands/gate.js';
import { registerJobs } from './commands/jobs.js';
import { registerKeys } from './commands/keys.js';
import { registerMatrix } from './commands/matrix.js';
import { registerMigrate } from './commands/migrate.js';
import { registerQueues } from './commands/queues.js';
import { registerRelease } from './commands/release.js';
import { registerRuns } from './commands/runs.js';
import { registerSchedules } from './commands/schedules.js';
import { registerServer } from './commands/server.js';
import { registerStart } from './commands/start.js';
import { registerVerify } from './commands/verify.js';
import { registerWorker } from './commands/worker.js';
import { registerWorkers } from './commands/workers.js';
import { printError, type Console } from './console.js';
import type { Self } from './crash-test.js';
import { EXIT_CODES_HELP, exitCodeOf, USAGE } from './exit-code.js';
import type { Register } from './shell.js';

/** In the order in which help lists them. */
const COMMANDS: readonly Register[] = [
  registerDev,
  registerServer,
  registerWorker,
  registerStart,
  registerJobs,
  registerApply,
  registerRuns,
  registerDlq,
  registerEffects,
  registerSchedules,
  registerQueues,
  registerWorkers,
  registerKeys,
  registerDoctor,
  registerRelease,
  registerExport,
  registerVerify,
  registerMigrate,
  registerConformance,
  registerMatrix,
  registerGate,
  registerCrashWriter,
];

export type Surroundings = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
};

/** Runs one command line and answers with its exit code. */
export async function run(
  args: readonly string[],
  console: Console,
  self: Self,
  { env = process.env, cwd = process.cwd() }: Surroundings = {},
): Promise<number> {
  const json = args.includes('--json');
  let code = 0;
  const program = programOf(console, { json });
  const ends = (promise: Promise<number>): Promise<void> => promise.then((ended) => void (code = ended));
  for (const register of COMMANDS) register(program, { console, self, env, cwd, ends });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    printError(console, error, { json });
    return exitCodeOf(error);
  }
}

function programOf(console: Console, { json }: { json: boolean }): Command {
  return new Command('pawl')
    .description('Durable jobs on one SQLite file or on Postgres.')
    .exitOverride()
    .configureOutput({
      writeOut: console.out,
      writeErr: console.err,
      outputError: (text, write) => write(json ? usageError(text) : text),
    })
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
}

/** A wrong command line is told apart like everything else that is wrong. */
function usageError(text: string): string {
  const message = text.replace(/^error: /, '').trim();
  return `${JSON.stringify({ error: { code: 'INVALID_OPTION', message, retryable: false, class: 'validation' } })}\n`;
}
