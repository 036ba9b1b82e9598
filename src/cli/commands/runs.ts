import type { Command } from 'commander';
import { jsonLogger } from '../../client/console-logger.js';
import { runStates, type RunStates } from '../../client/run-states.js';
import { runSnapshot, runState, type RunSnapshot, type RunState } from '../../contracts/index.js';
import type { Engine } from '../../engine/engine.js';
import { readLog } from '../../engine/read-log.js';
import { PawlError } from '../../errors.js';
import { changesOf, isTerminal } from '../../kernel/index.js';
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

/** A run that nobody tracks is a job all the same: then it is shown as the HTTP API shows it. */
function showRun(shell: Shell, runId: string, options: Options): Promise<number> {
  return withRuns(shell, options, async (runs, askJobs) => {
    const run = (await runs.find(runId)) ?? (await askJobs((engine) => ofJob(engine, runId)));
    print(shell.console, { json: options.json ?? false, data: run, text: runSheet(run) });
    return 0;
  });
}

async function ofJob(engine: Engine, runId: string): Promise<RunSnapshot> {
  const { found } = await engine.store.load(runId);
  if (found === null) throw new PawlError('JOB_NOT_FOUND', { detail: `there is no run ${runId}` });
  const changes = changesOf(await readLog(engine.store, runId));
  return runSnapshot(changes.at(-1)?.after ?? found.job, changes);
}

function interruptRuns(shell: Shell, options: Options & { readonly reason: string }): Promise<number> {
  return withRuns(shell, options, async (runs, askJobs) => {
    const ids = await askJobs((engine) =>
      runs.markInterrupted(options.reason, { isAlive: (runId) => isAlive(engine, runId) }),
    );
    const text = ids.length === 0 ? 'Nothing to archive.' : ids.map((id) => `Archived ${id}.`).join('\n');
    print(shell.console, { json: options.json ?? false, data: { run_ids: ids }, text });
    return 0;
  });
}

async function isAlive(engine: Engine, runId: string): Promise<boolean> {
  const { found } = await engine.store.load(runId);
  return found !== null && !isTerminal(found.job.status);
}

function reconcileRun(shell: Shell, runId: string, options: ReconcileOptions): Promise<number> {
  const { outcome, reason, by: actor, json = false } = options;
  return withRuns(shell, options, async (runs, askJobs) => {
    const run = await runs.reconcile(runId, { outcome, reason, actor }).catch(async (error: unknown) => {
      const isUntracked = error instanceof PawlError && error.code === 'JOB_NOT_FOUND';
      // Runs that are kept elsewhere may have no store of jobs.
      if (!isUntracked || options.runs !== undefined) throw error;
      throw await askJobs((engine) => engineRun(engine, runId));
    });
    print(shell.console, { json, data: run, text: runSheet(run) });
    return 0;
  });
}

/** Why a run that nobody tracks is not reconciled: nothing is added to a job once it has ended. What there is to do is done elsewhere. */
async function engineRun(engine: Engine, runId: string): Promise<PawlError> {
  const { found } = await engine.store.load(runId);
  if (found === null) return new PawlError('JOB_NOT_FOUND', { detail: `there is no run ${runId}` });
  const { job } = found;
  const status = runState.project(job);
  const dlqId = job.deadLetter?.dlqId ?? null;
  const instead =
    dlqId === null
      ? ''
      : `. Its dead letter is there for what was found out: pawl dlq discard ${dlqId} --reason <text>, or pawl dlq requeue ${dlqId} to have it done again`;
  return new PawlError('INVALID_TRANSITION', {
    detail:
      status === 'interrupted'
        ? `run ${runId} is interrupted, but it is the engine's own: its record is the log of job ${runId}, which has ended, and only a run that is tracked can be reconciled${instead}`
        : `run ${runId} is ${status}: only an interrupted run is reconciled`,
    details: { from: status, to: status },
  });
}
