import { readSettings, type ProcessFlags } from '../config/settings.js';
import { processOptions, serverOptions, workerOptions } from '../process-options.js';
import { runProcess } from '../run-process.js';
import { command, examples, type Register, type Shell } from '../shell.js';

type Options = ProcessFlags & {
  readonly work?: boolean;
  readonly narrate?: boolean;
  readonly untilInputEnds?: boolean;
  readonly runs?: string;
};

export const registerServer: Register = (program, shell) => {
  const server = command(
    program,
    'server [task-files...]',
    'Open the HTTP API. Jobs are run elsewhere, unless --work is given.',
  )
    .option('--work', 'run jobs here too')
    .option('--runs <url>', 'where the states of runs are kept, if not beside the jobs')
    .action((files: string[], options: Options) => shell.ends(run(shell, files, options)));
  processOptions(workerOptions(serverOptions(server)));
  examples(
    server,
    'pawl server --store postgres://localhost/app --host 0.0.0.0',
    'pawl server --work --port 8080',
  );
};

async function run(shell: Shell, files: readonly string[], options: Options): Promise<number> {
  const settings = await readSettings(options, files, shell);
  const { work = false, narrate = false, untilInputEnds = false, json = false, runs = null } = options;
  return runProcess(shell, settings, {
    serves: true,
    works: work,
    health: null,
    narrates: narrate,
    untilInputEnds,
    json,
    runs,
  });
}
