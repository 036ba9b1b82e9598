import type { Duration } from '../../engine/duration.js';
import { systemClock } from '../../client/system-clock.js';
import { jsonLogger } from '../../client/console-logger.js';
import type { RunState } from '../../contracts/index.js';
import { PawlError } from '../../errors.js';
import { JOB_ID, JOB_ID_RULE } from '../../kernel/index.js';
import { apply, loadWorkflow, planLines, planOf, type Applied, type Loaded } from '../../runner/index.js';
import { commandLine } from '../command-line.js';
import { storeOf } from '../config/settings.js';
import { print } from '../console.js';
import { runSummaryLines } from '../run-lines.js';
import { plainText } from '../plain-text.js';
import { command, examples, numberOption, type Flags, type Register, type Shell } from '../shell.js';
import { untilStopped } from '../until-stopped.js';
import { warnOfMemory } from '../warn-of-memory.js';
import { watchRun } from '../watch-run.js';

type Options = Flags & {
  readonly runId?: string;
  readonly runs?: string;
  readonly watch?: boolean;
  readonly plan?: boolean;
  readonly parallel: number;
  readonly lease?: Duration;
  readonly drain?: Duration;
};

export const registerApply: Register = (program, shell) => {
  const applying = command(
    program,
    'apply <workflow>',
    'Apply a workflow file on its hosts, or go on with a run of it that was interrupted.',
  )
    .option('--run-id <id>', 'the id of the run: the same again goes on with it')
    .option(
      '--runs <url>',
      'where the state of the run is kept: file:<folder>, sqlite:<path> or postgres://…; beside the job, unless said',
    )
    .option('--plan', 'show what would run, and run nothing')
    .option('--watch', 'show the run as it goes; also where nobody watches a terminal')
    .addOption(
      numberOption('--parallel <n>', 'how many hosts at once', { least: 1, most: 10_000 }).default(50),
    )
    .option('--lease <duration>', 'how long the run stays with a process that is not heard of: 10s')
    .option('--drain <duration>', 'how long actions get to end when it is stopped by a signal: 10s')
    .action((file: string, options: Options) => shell.ends(run(shell, file, options)));
  examples(
    applying,
    'pawl apply deploy.yaml --plan',
    'pawl apply deploy.yaml --watch',
    'pawl apply deploy.yaml --run-id release-2027-01 --json',
  );
};

async function run(shell: Shell, file: string, options: Options): Promise<number> {
  const { console, cwd } = shell;
  expectRunId(options.runId);
  const loaded = await loadWorkflow(file, { cwd });
  const { json = false } = options;
  if (options.plan) {
    const steps = planOf(loaded.workflow).map(({ isHandler: is_handler, ...step }) => ({
      ...step,
      is_handler,
    }));
    const data = { workflow_name: loaded.workflow.name, steps };
    print(console, { json, data, text: planLines(loaded.workflow).join('\n') });
    return 0;
  }
  const applied = await carryOut(shell, loaded, options);
  const { runId: run_id, status, exported, run: state } = applied;
  const text = state === null ? `Run ${run_id}: ${status}` : runSummaryLines(state);
  print(console, { json, data: { run_id, status, exported, run: state }, text });
  return EXIT[status];
}

/** A run is a job, so its id is a job's: said here, where the option has the name that was given. */
function expectRunId(runId: string | undefined): void {
  if (runId === undefined || JOB_ID.test(runId)) return;
  throw new PawlError('INVALID_OPTION', {
    detail: `--run-id ${JOB_ID_RULE}, and is ${JSON.stringify(runId)}`,
    details: { option: '--run-id' },
  });
}

/** As with jobs: a failure is final, a cancel was somebody's wish, and a run that was stopped goes on later. */
const EXIT: Readonly<Record<RunState, number>> = {
  success: 0,
  failed: 1,
  interrupted: 1,
  canceled: 3,
  running: 75,
  queued: 75,
};

async function carryOut(shell: Shell, loaded: Loaded, options: Options): Promise<Applied> {
  const { console } = shell;
  const { runId, runs, parallel, lease, drain, config, json = false } = options;
  const store = await storeOf(options, shell);
  warnOfMemory(console, store, runs);
  const say = (line: string): void => console.err(`${plainText(line)}\n`);
  const shows = !json && (console.isTerminal || options.watch === true);
  const totals = new Map(planOf(loaded.workflow).map(({ name, hosts }) => [name, hosts.length]));
  const watching = shows ? watchRun(console, { totals, clock: systemClock }) : null;
  const signals = untilStopped();
  const stopping = new AbortController();
  void signals.stopped.then(() => stopping.abort());
  let id = '';
  try {
    const applied = await apply(loaded, {
      store,
      parallel,
      recorders: watching ? [watching.recorder] : [],
      signal: stopping.signal,
      log: jsonLogger({ level: 'error', write: console.err }),
      onStarted: (started) => {
        id = started;
        if (!json) say(`Run ${started}`);
      },
      ...(shows || json ? {} : { onWaiting: say }),
      ...(runId === undefined ? {} : { runId }),
      ...(runs === undefined ? {} : { runs }),
      ...(lease === undefined ? {} : { lease }),
      ...(drain === undefined ? {} : { drain }),
    });
    if (applied.status === 'running') {
      const again = ['pawl', 'apply', loaded.source.file, '--run-id', id];
      say(`Stopped. It goes on with: ${commandLine(again, { store: options.store, config, runs })}`);
    }
    return applied;
  } finally {
    watching?.stop();
    signals.release();
  }
}
