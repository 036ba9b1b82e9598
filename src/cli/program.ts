import { Command, CommanderError } from 'commander';
import { knownError, PawlError } from '../errors.js';
import { VERSION } from '../http/version.js';
import { errorLine, printError, type Console } from './console.js';
import type { Self } from './crash-test.js';
import { EXIT_CODES_HELP, exitCodeOf, USAGE } from './exit-code.js';
import { present, STORE_VARIABLES } from './config/store-variables.js';
import type { Register, Shell } from './shell.js';

/**
 * In the order in which help lists them. One that is named is loaded without the others: with the HTTP API, the failure matrix and all the rest a
 * process takes several times as long to begin.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  dev: async () => (await import('./commands/dev.js')).registerDev,
  server: async () => (await import('./commands/server.js')).registerServer,
  worker: async () => (await import('./commands/worker.js')).registerWorker,
  start: async () => (await import('./commands/start.js')).registerStart,
  jobs: async () => (await import('./commands/jobs.js')).registerJobs,
  apply: async () => (await import('./commands/apply.js')).registerApply,
  runs: async () => (await import('./commands/runs.js')).registerRuns,
  dlq: async () => (await import('./commands/dlq.js')).registerDlq,
  effects: async () => (await import('./commands/effects.js')).registerEffects,
  schedules: async () => (await import('./commands/schedules.js')).registerSchedules,
  queues: async () => (await import('./commands/queues.js')).registerQueues,
  workers: async () => (await import('./commands/workers.js')).registerWorkers,
  keys: async () => (await import('./commands/keys.js')).registerKeys,
  doctor: async () => (await import('./commands/doctor.js')).registerDoctor,
  release: async () => (await import('./commands/release.js')).registerRelease,
  export: async () => (await import('./commands/export.js')).registerExport,
  verify: async () => (await import('./commands/verify.js')).registerVerify,
  migrate: async () => (await import('./commands/migrate.js')).registerMigrate,
  conformance: async () => (await import('./commands/conformance.js')).registerConformance,
  matrix: async () => (await import('./commands/matrix.js')).registerMatrix,
  gate: async () => (await import('./commands/gate.js')).registerGate,
  'crash-writer': async () => (await import('./commands/crash-writer.js')).registerCrashWriter,
};

/** What these do is not for whoever reads what they print, and goes on without. */
export const WORKING: ReadonlySet<string | undefined> = new Set(['dev', 'server', 'worker', 'apply']);

/** Those that a command line needs: for help, and for what there is not, all of them. */
function commandsFor([name = '']: readonly string[]): Promise<Register[]> {
  const named = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return Promise.all((named ? [named] : Object.values(COMMANDS)).map((load) => load()));
}

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
  for (const register of await commandsFor(args)) register(program, { console, self, env, cwd, ends });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      if (json) console.err(usageError(error));
      return USAGE;
    }
    const known = knownError(error) ?? error;
    printError(console, known, { json });
    const variable = isOfStore(known) ? storeVariable(args, env) : null;
    if (variable !== null && !json) console.err(`The address of the store is from ${variable}.\n`);
    return exitCodeOf(known);
  }
}

const isOfStore = (error: unknown): boolean => error instanceof PawlError && error.code.startsWith('STORE_');

/** What names the store, if that is the environment: nobody may have it in mind. */
function storeVariable(args: readonly string[], env: Shell['env']): string | null {
  if (args.some((arg) => arg === '--store' || arg.startsWith('--store='))) return null;
  return STORE_VARIABLES.find((name) => present(env[name]) !== undefined) ?? null;
}

function programOf(console: Console, { json }: { json: boolean }): Command {
  return new Command('pawl')
    .description('Durable jobs on one SQLite file or on Postgres.')
    .version(VERSION, '-V, --version', 'the release that this is')
    .exitOverride()
    .configureOutput({
      writeOut: console.out,
      // Help and hints are for people: programs get one line in the place of all that would be written here.
      writeErr: json ? () => undefined : console.err,
    })
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', `\n${EXIT_CODES_HELP}`);
}

/** A wrong command line is told apart like everything else that is wrong. */
function usageError({ code, message }: CommanderError): string {
  const isHelp = code === 'commander.help';
  const problem = isHelp ? 'a command is missing: --help lists those that there are' : message;
  return errorLine('INVALID_OPTION', problem.replace(/^error: /, '').trim());
}
