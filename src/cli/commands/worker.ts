import { readSettings, type ProcessFlags } from '../config/settings.js';
import { processOptions, workerOptions } from '../process-options.js';
import { runProcess } from '../run-process.js';
import { command, examples, numberOption, type Register, type Shell } from '../shell.js';

type Options = ProcessFlags & {
  readonly healthHost: string;
  readonly healthPort?: number;
  readonly narrate?: boolean;
  readonly untilInputEnds?: boolean;
};

export const registerWorker: Register = (program, shell) => {
  const worker = command(
    program,
    'worker [task-files...]',
    'Run jobs of the tasks in the config, or in these files.',
  )
    .addOption(
      numberOption('--health-port <n>', 'answer /healthz, /readyz and /metrics there', {
        least: 1,
        most: 65_535,
      }),
    )
    .option('--health-host <address>', 'on this address', '127.0.0.1')
    .action((files: string[], options: Options) => shell.ends(run(shell, files, options)));
  processOptions(workerOptions(worker));
  examples(
    worker,
    'pawl worker',
    "pawl worker 'tasks/**/*.ts' --queues mail --concurrency 10",
    'PAWL_KEY=… pawl worker tasks.ts --store https://jobs.example.com',
  );
};

async function run(shell: Shell, files: readonly string[], options: Options): Promise<number> {
  const settings = await readSettings(options, files, shell);
  const {
    healthHost: host,
    healthPort: port,
    narrate = false,
    untilInputEnds = false,
    json = false,
  } = options;
  return runProcess(shell, settings, {
    serves: false,
    works: true,
    health: port === undefined ? null : { host, port },
    narrates: narrate,
    untilInputEnds,
    json,
  });
}
