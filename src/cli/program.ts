import { Command, CommanderError, Option } from 'commander';
import { STORE_CONFORMANCE } from '../testkit/conformance/index.js';
import { conformance, CRASH, type ConformanceOptions } from './conformance.js';
import { printError, type Console } from './console.js';
import { crashWriter, type Self } from './crash.js';
import { doctorRestored, release } from './doctor.js';
import { listEffects, resolveEffect, type ResolveOptions } from './effects.js';
import { exitCodeOf } from './exit-code.js';
import { exportEvidence, type ExportChoice } from './export.js';
import { gate } from './gate.js';
import { migrate, type MigrateOptions } from './migrate.js';
import { verify, type VerifyChoice } from './verify.js';

const TOPICS = [...STORE_CONFORMANCE.map(({ name }) => name), CRASH];
const DEFAULT_STORE = 'sqlite:pawl.db';
const USAGE = 2;

/** Runs one command line and answers with its exit code. */
export async function run(args: readonly string[], console: Console, self: Self): Promise<number> {
  let code = 0;
  const ends = (promise: Promise<number>): Promise<void> => promise.then((ended) => void (code = ended));

  const program = new Command('pawl')
    .description('Durable jobs on one SQLite file or on Postgres.')
    .exitOverride()
    .configureOutput({ writeOut: console.out, writeErr: console.err })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 a check failed or the store cannot be used, 2 wrong usage or input, 3 refused,\n75 try again later, 77 not allowed.',
    );

  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .addOption(
        new Option('--store <url>', 'memory:, sqlite:<path> or postgres://…')
          .env('PAWL_STORE')
          .default(DEFAULT_STORE),
      )
      .option('--json', 'print one line of JSON', false);

  command('migrate', "Bring the store's schema up to this release.")
    .option('--dry-run', 'print the SQL and change nothing', false)
    .option('--verify', 'change nothing; fail if the schema is not up to date', false)
    .action((options: MigrateOptions) => ends(migrate(console, options)));

  command(
    'conformance',
    'Check that a disk or server does what the store needs, in scratch files or databases.',
  )
    .addOption(new Option('--topic <name>', 'only one topic').choices(TOPICS).default(null))
    .action((options: ConformanceOptions) => ends(conformance(console, self, options)));

  command('gate', 'Run the replay cases RP-001 to RP-005 on a store; fails if one of them does.').action(
    (options: { store: string; json: boolean }) => ends(gate(console, options)),
  );

  program
    .command('crash-writer <prefix>', { hidden: true })
    .requiredOption('--store <url>')
    .action((prefix: string, { store }: { store: string }) => crashWriter(console, { store, prefix }));

  command('doctor', 'Look after a store that something happened to.')
    .requiredOption(
      '--restored',
      'the store was restored to an earlier point: hold what may have had effects since',
    )
    .option('--all', 'hold every unfinished job', false)
    .option('--task <name...>', 'hold the unfinished jobs of these tasks')
    .option('--by <name>', 'who is doing this', 'operator:cli')
    .action((options: { store: string; all: boolean; task?: string[]; by: string; json: boolean }) =>
      ends(doctorRestored(console, { ...options, tasks: options.task ?? null })),
    );

  const effects = command(
    'effects',
    'List the effects that nobody knows the outcome of, or decide on one.',
  ).action((options: { store: string; json: boolean }) => ends(listEffects(console, options)));
  effects
    .command('resolve <job-id> <step>')
    .description('Say what became of an effect that a job waits for.')
    .option('--happened [json]', 'it happened, with this result')
    .option('--not-happened', 'it did not: the job may enter it again')
    .option('--fail', 'nobody can tell: the job is given up')
    .option('--occurrence <n>', 'which use of the step, from 1', '1')
    .option('--by <name>', 'who is deciding', 'cli')
    .action((jobId: string, step: string, options: Omit<ResolveOptions, 'store' | 'json'>) =>
      ends(
        resolveEffect(console, {
          jobId,
          step,
          ...options,
          ...effects.opts<{ store: string; json: boolean }>(),
        }),
      ),
    );

  command('release', 'Let jobs that are held be claimed again.')
    .argument('<job-id...>')
    .action((jobIds: string[], options: { store: string; json: boolean }) =>
      ends(release(console, { ...options, jobIds })),
    );

  command('export', 'Write the evidence of jobs: their logs, effects and rows, sealed against changes.')
    .argument('[job-id...]')
    .option('--task <name>', 'every job of this task')
    .option('--all', 'every job', false)
    .option('--out <file>', 'where to; without it, to the standard output')
    .action((jobIds: string[], options: Omit<ExportChoice, 'jobIds'>) =>
      ends(exportEvidence(console, { ...options, jobIds })),
    );

  command(
    'verify',
    'Check a file of evidence, or without one every job of the store; fails if it does not hold.',
  )
    .argument('[file]')
    .option('--head <seal>', 'the head of the file, as it was told when it was written')
    .action((file: string | undefined, options: Omit<VerifyChoice, 'file'>) =>
      ends(verify(console, { ...options, file: file ?? null })),
    );

  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    printError(console, error, { json: args.includes('--json') });
    return exitCodeOf(error);
  }
}
