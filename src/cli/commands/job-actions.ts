import type { Command } from 'commander';
import { BUCKETS } from '../../kernel/index.js';
import { toJsonText } from '../../engine/json-text.js';
import { abandonJob, cancelJob } from '../../engine/operator.js';
import { retryAsNew } from '../../engine/retry-as-new.js';
import { signalJob } from '../../engine/signal-job.js';
import { print } from '../console.js';
import { shownJob } from '../job-lines.js';
import { withApp } from '../open-app.js';
import { readJson } from '../read-json.js';
import {
  byOption,
  command,
  examples,
  repeatingOf,
  repeatingOptions,
  tenantOption,
  type Flags,
  type Register,
  type RepeatingFlags,
  type Shell,
} from '../shell.js';

type Options = Flags & { readonly tenant?: string; readonly by: string };
type RetryOptions = Options & RepeatingFlags;

/** What is done to a job, under `pawl jobs`. */
export const registerJobActions: Register = (jobs, shell) => {
  const cancel = command(
    jobs,
    'cancel <job-id>',
    'Give up on a job for good. A handler that runs it is aborted.',
  )
    .option('--reason <text>', 'why')
    .addOption(tenantOption())
    .addOption(byOption())
    .action((jobId: string, _options: unknown, self: Command) =>
      shell.ends(runCancel(shell, jobId, self.optsWithGlobals<Options & { reason?: string }>())),
    );
  examples(cancel, "pawl jobs cancel 01JZ… --reason 'ordered twice' --by ann");

  const abandon = command(
    jobs,
    'abandon <job-id>',
    'Fail a job for good that is running, retrying or interrupted. It ends in the dead letters, and can be requeued from there.',
  )
    .requiredOption('--reason <text>', 'why')
    .addOption(tenantOption())
    .addOption(byOption())
    .action((jobId: string, _options: unknown, self: Command) =>
      shell.ends(runAbandon(shell, jobId, self.optsWithGlobals<Options & { reason: string }>())),
    );
  examples(abandon, "pawl jobs abandon 01JZ… --reason 'never comes to its end' --by ann");

  const signal = command(
    jobs,
    'signal <job-id> <key> [json]',
    'Signal a job. Kept if it does not wait for that yet.',
  )
    .addOption(tenantOption())
    .action((jobId: string, key: string, json: string | undefined, _options: unknown, self: Command) =>
      shell.ends(runSignal(shell, { jobId, key, json }, self.optsWithGlobals<Options>())),
    );
  examples(signal, `pawl jobs signal 01JZ… approval '{"by":"Ada"}'`);

  const retry = repeatingOptions(
    command(jobs, 'retry <job-id>', 'The work of a job that has ended once more, as a new job.'),
  )
    .addOption(tenantOption())
    .addOption(byOption())
    .action((jobId: string, _options: unknown, self: Command) =>
      shell.ends(runRetry(shell, jobId, self.optsWithGlobals<RetryOptions>())),
    );
  examples(retry, 'pawl jobs retry 01JZ…', 'pawl jobs retry 01JZ… --keep-recorded');
};

function runCancel(shell: Shell, jobId: string, options: Options & { reason?: string }): Promise<number> {
  const { tenant: tenantId = null, by, reason = null, json = false } = options;
  return withApp(
    shell,
    options,
    async ({ engine }) => {
      const job = await cancelJob(engine, jobId, { tenantId, actor: `operator:${by}`, reason });
      print(shell.console, { json, data: shownJob(job), text: `Job ${jobId} is cancelled.` });
      return 0;
    },
    { commands: true },
  );
}

function runAbandon(shell: Shell, jobId: string, options: Options & { reason: string }): Promise<number> {
  const { tenant: tenantId = null, by, reason, json = false } = options;
  return withApp(
    shell,
    options,
    async ({ engine }) => {
      const job = await abandonJob(engine, jobId, { tenantId, actor: `operator:${by}`, reason });
      const text = `Job ${jobId} has failed, and is in the dead letters: ${job.deadLetter?.dlqId ?? ''}`;
      print(shell.console, { json, data: shownJob(job), text });
      return 0;
    },
    { commands: true },
  );
}

const SAID = {
  delivered: 'The job waited for it, and goes on.',
  kept: 'Kept, for when the job waits for it.',
  repeated: 'This key came before: nothing has changed.',
} as const;

async function runSignal(
  shell: Shell,
  { jobId, key, json: text }: { jobId: string; key: string; json: string | undefined },
  options: Options,
): Promise<number> {
  const { tenant: tenantId = null, json = false } = options;
  const payload = toJsonText(
    text === undefined ? null : readJson(text, 'the payload'),
    `the payload of signal '${key}'`,
  );
  return withApp(
    shell,
    options,
    async ({ engine }) => {
      const outcome = await signalJob(engine, { jobId, key, payload, tenantId });
      const data = { job_id: jobId, correlation_key: key, outcome };
      print(shell.console, { json, data, text: SAID[outcome] });
      return 0;
    },
    { commands: true },
  );
}

function runRetry(shell: Shell, jobId: string, options: RetryOptions): Promise<number> {
  const { tenant: tenantId = null, by, json = false } = options;
  return withApp(shell, options, async ({ engine }) => {
    const newId = engine.newId(engine.random.int(BUCKETS));
    const authority = { tenantId, actor: `operator:${by}` };
    const job = await retryAsNew(engine, jobId, { ...authority, ...repeatingOf(options), newId });
    const text = `Job ${job.spec.jobId} does the work of ${jobId} once more.`;
    print(shell.console, { json, data: shownJob(job), text });
    return 0;
  });
}
