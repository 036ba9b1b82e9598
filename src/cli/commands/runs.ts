import type { Command } from 'commander';
import { jsonLogger } from '../../client/console-logger.js';
import { reconcileJobRun } from '../../client/reconcile-job-run.js';
import { runStates, type RunStates } from '../../client/run-states.js';
import { runEndOf, runState, type RunSnapshot, type RunState } from '../../contracts/index.js';
import type { Engine } from '../../engine/engine.js';
import { readRun } from '../../engine/runs/read-run.js';
import { PawlError } from '../../errors.js';
import type { Job } from '../../kernel/index.js';
import { storeOf } from '../config/settings.js';
import { print } from '../console.js';
import { withApp } from '../open-app.js';
import { runSheet, runTable } from '../run-lines.js';
import {
  byOption,
  choiceOption,
  command,
  examples,
  numberOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { warnOfMemory } from '../warn-of-memory.js';

type Options = Flags & { readonly runs?: string };
type ListOptions = Options & {
  readonly status?: RunState;
  readonly workflow?: string;
  readonly limit: number;
  readonly before?: string;
};
type ReconcileOptions = Options & { readonly outcome: string; readonly reason: string; readonly by: string };

export const registerRuns: Register = (program, shell) => {
  const runs = command(program, 'runs', 'Look at runs of workflows, and settle those that were interrupted.');
  const one = (name: string, description: string): Command =>
    command(runs, name, description).option(
      '--runs <url>',
      'where the states of runs are kept, if not beside the jobs',
    );
  const list = one('list', 'Runs, newest first.')
    .addOption(choiceOption('--status <status>', 'only those with this status', runState.machine.states))
    .option('--workflow <name>', 'only those of this workflow')
    .option('--before <run-id>', 'only those before this one')
    .addOption(numberOption('--limit <n>', 'how many', { least: 1, most: 1_000 }).default(20))
    .action((_options: unknown, self: Command) =>
      shell.ends(listRuns(shell, self.optsWithGlobals<ListOptions>())),
    );
  const show = one(
    'show <run-id>',
    'A run with its steps and hosts; of one that nobody tracks, what its job tells.',
  )
    .alias('status')
    .action((runId: string, _options: unknown, self: Command) =>
      shell.ends(showRun(shell, runId, self.optsWithGlobals<Options>())),
    );
  const interrupt = one('interrupt', 'Archive runs that were running, and whose jobs will not go on.')
    .requiredOption('--reason <text>', 'what happened')
    .action((_options: unknown, self: Command) =>
      shell.ends(interruptRuns(shell, self.optsWithGlobals<Options & { reason: string }>())),
    );
  const reconcile = one('reconcile <run-id>', 'Record what was found out about an interrupted run.')
    .requiredOption('--outcome <text>', 'what became of it')
    .requiredOption('--reason <text>', 'how that is known')
    .addOption(byOption())
    .action((runId: string, _options: unknown, self: Command) =>
      shell.ends(reconcileRun(shell, runId, self.optsWithGlobals<ReconcileOptions>())),
    );
  examples(runs, 'pawl runs list', 'pawl runs show 01JZ…');
  examples(list, 'pawl runs list --status running', 'pawl runs list --workflow deploy --json');
  examples(show, 'pawl runs show 01JZ…', 'pawl runs status 01JZ… --json');
  examples(interrupt, "pawl runs interrupt --reason 'the server was replaced'");
  examples(reconcile, "pawl runs reconcile 01JZ… --outcome success --reason 'the release is live' --by ann");
};

/** Asks the store of jobs, which is opened for it if it is not open anyway. */
type AskJobs = <T>(ask: (engine: Engine) => Promise<T>) => Promise<T>;

/** Opens the states of runs. Only where they are kept beside the jobs does the store of jobs have to be there as well. */
async function withRuns(
  shell: Shell,
  options: Options,
  work: (runs: RunStates, askJobs: AskJobs) => Promise<number>,
): Promise<number> {
  const log = jsonLogger({ level: 'error', write: shell.console.err });
  const within = async (store: string, askJobs: AskJobs): Promise<number> => {
    const runs = await runStates({ store, log });
    try {
      return await work(runs, askJobs);
    } finally {
      await runs.close();
    }
  };
  if (options.runs === undefined) {
    const store = await storeOf(options, shell);
    return withApp(shell, options, ({ engine }) => within(store, (ask) => ask(engine)));
  }
  warnOfMemory(shell.console, options.runs);
  return within(options.runs, (ask) => withApp(shell, options, ({ engine }) => ask(engine)));
}

function listRuns(shell: Shell, options: ListOptions): Promise<number> {
  const { status, workflow, before, limit, json = false } = options;
  return withRuns(shell, options, async (runs) => {
    const found = await runs.list({
      limit,
      ...(status === undefined ? {} : { status }),
      ...(workflow === undefined ? {} : { workflow_name: workflow }),
      ...(before === undefined ? {} : { before }),
    });
    print(shell.console, { json, data: { runs: found }, text: runTable(found) });
    return 0;
  });
}

/** As the HTTP API shows it. One that is kept elsewhere is shown as it is kept, and its job is asked only if it is not there. */
function showRun(shell: Shell, runId: string, options: Options): Promise<number> {
  return withRuns(shell, options, async (runs, askJobs) => {
    const kept = await runs.find(runId);
    const isElsewhere = kept !== null && options.runs !== undefined;
    const run = isElsewhere ? kept : await askJobs((engine) => ofJob(engine, { runId, runs, kept }));
    print(shell.console, { json: options.json ?? false, data: run, text: runSheet(run) });
    return 0;
  });
}

type Sought = { readonly runId: string; readonly runs: RunStates; readonly kept: RunSnapshot | null };

/** A run that nobody tracks is a job all the same; and one that is tracked need not be one. */
async function ofJob(engine: Engine, { runId, runs, kept }: Sought): Promise<RunSnapshot> {
  const job = await jobOf(engine, runId);
  if (job !== null) return readRun(engine, runs, job);
  if (kept !== null) return kept;
  throw new PawlError('JOB_NOT_FOUND', { detail: `there is no run ${runId}` });
}

async function jobOf(engine: Engine, runId: string): Promise<Job | null> {
  return (await engine.store.load(runId)).found?.job ?? null;
}

/** A run whose job has come to another end than an interruption has ended like that: it is not archived, but told so. */
function interruptRuns(shell: Shell, options: Options & { readonly reason: string }): Promise<number> {
  return withRuns(shell, options, async (runs, askJobs) => {
    const ended: { readonly run_id: string; readonly status: RunState }[] = [];
    const archived = await askJobs((engine) =>
      runs.markInterrupted(options.reason, {
        async isAlive(runId) {
          const job = await jobOf(engine, runId);
          const end = job && runEndOf(job);
          if (job === null || end?.status === 'interrupted') return false;
          const run = end && (await runs.end(runId, end));
          if (run) ended.push({ run_id: runId, status: run.status });
          return true;
        },
      }),
    );
    const lines = [
      ...archived.map((id) => `Archived ${id}.`),
      ...ended.map(({ run_id, status }) => `Ended ${run_id} as its job had: ${status}.`),
    ];
    const text = lines.length === 0 ? 'Nothing to archive.' : lines.join('\n');
    print(shell.console, { json: options.json ?? false, data: { run_ids: archived, ended }, text });
    return 0;
  });
}

/** Runs that are kept elsewhere may have no store of jobs; and a run that is tracked need not have a job. */
function reconcileRun(shell: Shell, runId: string, options: ReconcileOptions): Promise<number> {
  const { outcome, reason, by: actor, json = false } = options;
  const finding = { outcome, reason, actor };
  return withRuns(shell, options, async (runs, askJobs) => {
    const ofItsJob = async (engine: Engine): Promise<RunSnapshot> => {
      const job = await jobOf(engine, runId);
      return job === null ? runs.reconcile(runId, finding) : reconcileJobRun(engine, { job, runs }, finding);
    };
    const run = await (options.runs === undefined ? askJobs(ofItsJob) : runs.reconcile(runId, finding));
    print(shell.console, { json, data: run, text: runSheet(run) });
    return 0;
  });
}
