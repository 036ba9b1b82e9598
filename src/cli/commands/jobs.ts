import type { Command } from 'commander';
import { logEvent, stepsOf, utcOrNull } from '../../contracts/index.js';
import { ownJob } from '../../engine/own-job.js';
import { readLog } from '../../engine/read-log.js';
import { explain } from '../../engine/why.js';
import { PawlError } from '../../errors.js';
import { changesOf, STATUSES, type Status } from '../../kernel/index.js';
import type { Loaded, Store } from '../../ports/store.js';
import { print } from '../console.js';
import { eventTable, jobSheet, jobTable, shownJob, stepTable } from '../job-lines.js';
import { withApp } from '../open-app.js';
import {
  choiceOption,
  command,
  examples,
  numberOption,
  tenantOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { registerJobActions } from './job-actions.js';

type Options = Flags & { readonly tenant?: string };
type ListOptions = Options & {
  readonly state?: Status;
  readonly task?: string;
  readonly limit: number;
  readonly cursor?: string;
};

export const registerJobs: Register = (program, shell) => {
  const jobs = command(program, 'jobs', 'Look at jobs, and act on them.');
  const list = command(jobs, 'list', 'Jobs, newest first.')
    .addOption(choiceOption('--state <state>', 'only those in this state', STATUSES))
    .option('--task <name>', 'only those of this task')
    .addOption(tenantOption())
    .addOption(numberOption('--limit <n>', 'how many', { least: 1, most: 1_000 }).default(20))
    .option('--cursor <cursor>', 'what the page before named as the next one')
    .action((_options: unknown, self: Command) =>
      shell.ends(listJobs(shell, self.optsWithGlobals<ListOptions>())),
    );
  examples(list, 'pawl jobs list --state waiting', 'pawl jobs list --task order --limit 100 --json');

  const one = (name: string, description: string, run: typeof showJob) =>
    command(jobs, `${name} <job-id>`, description)
      .addOption(tenantOption())
      .action((jobId: string, _options: unknown, self: Command) =>
        shell.ends(run(shell, jobId, self.optsWithGlobals<Options>())),
      );
  examples(one('show', 'A job with its steps.', showJob), 'pawl jobs show 01JZ…');
  examples(one('events', "A job's log, oldest first.", showEvents), 'pawl jobs events 01JZ… --json');
  examples(one('why', 'What a job is waiting for, in one sentence.', why), 'pawl jobs why 01JZ…');
  registerJobActions(jobs, shell);
  examples(jobs, 'pawl jobs list', 'pawl jobs why 01JZ…');
};

function listJobs(shell: Shell, options: ListOptions): Promise<number> {
  const { state, task = null, tenant = null, limit, cursor = null, json = false } = options;
  return withApp(shell, options, async ({ engine }) => {
    const statuses = state === undefined ? null : [state];
    const { rows, next } = await engine.store.list({ tenantId: tenant, statuses, task, limit, cursor });
    const loaded = await Promise.all(rows.map(({ jobId }) => readable(shell, engine.store, jobId)));
    // Those that were purged in between are left out.
    const jobs = loaded.flatMap(({ found }) => (found ? [shownJob(found.job)] : []));
    const more = next === null ? '' : `\n\nThere are more: --cursor ${next}`;
    const text = jobs.length === 0 ? 'There are no such jobs.' : `${jobTable(jobs)}${more}`;
    print(shell.console, { json, data: { jobs, next_cursor: next }, text });
    return 0;
  });
}

/** A job that cannot be read is named, and keeps nobody from seeing the others. */
async function readable(
  { console }: Shell,
  store: Store,
  jobId: string,
): Promise<{ readonly found: Loaded | null }> {
  try {
    return await store.load(jobId);
  } catch (error) {
    // A store that fails says nothing about the job.
    if (error instanceof PawlError) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    console.err(`job ${jobId} is left out, since it cannot be read: ${problem}\n`);
    return { found: null };
  }
}

function showJob(shell: Shell, jobId: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    const job = await ownJob(engine, jobId, { tenantId: options.tenant ?? null });
    const steps = stepsOf(job, changesOf(await readLog(engine.store, jobId)));
    const shown = shownJob(job);
    const failure = job.failure ? `\n\n${job.failure.code}: ${job.failure.message}` : '';
    const text = `${jobSheet(job)}${steps.length === 0 ? '' : `\n\n${stepTable(steps)}`}${failure}`;
    print(shell.console, { json: options.json ?? false, data: { ...shown, steps }, text });
    return 0;
  });
}

function showEvents(shell: Shell, jobId: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    await ownJob(engine, jobId, { tenantId: options.tenant ?? null });
    const events = changesOf(await readLog(engine.store, jobId)).map(logEvent);
    print(shell.console, { json: options.json ?? false, data: { events }, text: eventTable(events) });
    return 0;
  });
}

function why(shell: Shell, jobId: string, options: Options): Promise<number> {
  return withApp(shell, options, async ({ engine }) => {
    await ownJob(engine, jobId, { tenantId: options.tenant ?? null });
    const { code, sentence, until } = await explain(engine, jobId);
    const data = { code, sentence, until: utcOrNull(until) };
    print(shell.console, { json: options.json ?? false, data, text: sentence });
    return 0;
  });
}
