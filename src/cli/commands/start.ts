import { toMs, type Duration } from '../../engine/duration.js';
import { readTime } from '../../engine/schedules/timing.js';
import { startJobs } from '../../engine/start-jobs.js';
import { defined } from '../../engine/defined.js';
import { newJobOf } from '../../http/new-job-of.js';
import { BUCKETS, type Job } from '../../kernel/index.js';
import type { TaskDefinition } from '../../worker/task-definition.js';
import { knownTasks } from '../config/known-tasks.js';
import { print } from '../console.js';
import { shownJob } from '../job-lines.js';
import { withApp, type OpenApp } from '../open-app.js';
import { readInputValue } from '../read-json.js';
import {
  command,
  examples,
  numberOption,
  ownerOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { followJob } from '../follow-job.js';

type Options = Flags & {
  readonly inputFile?: string;
  readonly key?: string;
  readonly scope?: string;
  readonly delay?: Duration;
  readonly at?: string;
  readonly queue?: string;
  readonly priority?: number;
  readonly tenant: string;
  readonly wait?: boolean;
  readonly timeout?: Duration;
  readonly progress?: boolean;
};

export const registerStart: Register = (program, shell) => {
  const start = command(
    program,
    'start <task> [json]',
    'Start a job, or find the one that was started with the same key.',
  )
    .option('--input-file <file>', 'the input from a file; `-` as the argument reads standard input')
    .option('--key <key>', 'the idempotency key: the same again finds the first job')
    .option('--scope <scope>', 'what the key is unique within')
    .option('--delay <duration>', 'not before this has passed, such as 30s or 2h')
    .option('--at <time>', 'not before this time in UTC, such as 2027-01-31T08:00:00Z')
    .option('--queue <name>', "instead of the task's own")
    .addOption(numberOption('--priority <n>', 'higher goes first', { least: -1_000_000, most: 1_000_000 }))
    .addOption(ownerOption())
    .option('--wait', 'until the job has ended; the exit code says how')
    .option('--timeout <duration>', 'with --wait: for this long at most')
    .option('--progress', 'with --wait: show the steps also where nobody watches a terminal')
    .action((task: string, json: string | undefined, options: Options) =>
      shell.ends(run(shell, { task, json }, options)),
    );
  examples(
    start,
    `pawl start order '{"id":"1001"}' --key order-1001 --wait`,
    'pawl start report --input-file report.json --at 2027-01-31T08:00:00Z',
    'jq .order mail.json | pawl start order -',
  );
};

async function run(
  shell: Shell,
  { task, json: argument }: { task: string; json: string | undefined },
  options: Options,
): Promise<number> {
  // A job that is started is not taken back because of what was said about waiting for it.
  const timeoutMs = options.timeout === undefined ? null : toMs(options.timeout, 'timeout');
  const payload = await readInputValue(shell, { argument, file: options.inputFile });
  const tasks = await knownTasks(shell, options, task);
  const asked = { task, payload, tasks, timeoutMs, options };
  return withApp(shell, options, (open) => startJob(shell, open, asked), { creates: true });
}

type Asked = {
  readonly task: string;
  readonly payload: unknown;
  readonly tasks: ReadonlyMap<string, TaskDefinition>;
  readonly timeoutMs: number | null;
  readonly options: Options;
};

async function startJob(
  shell: Shell,
  { engine, app }: OpenApp,
  { task, payload, tasks, timeoutMs, options }: Asked,
): Promise<number> {
  const { console } = shell;
  const { tenant, json = false, delay, at, key, scope, queue, priority } = options;
  const caller = { tenantId: tenant, role: 'operator', actor: 'client' } as const;
  const newId = (bucket?: number): string => engine.newId(bucket ?? engine.random.int(BUCKETS));
  const asked = await newJobOf(
    { engine, tasks, caller, newId, header: () => undefined },
    {
      task,
      payload,
      ...defined({
        delay,
        runAt: at === undefined ? undefined : readTime('at', at),
        idempotencyKey: key,
        scope,
        queue,
        priority,
      }),
    },
  );
  const [started] = await startJobs(engine, [asked]);
  const { job, idempotentHit } = started as { job: Job; idempotentHit: boolean };
  const { jobId } = job.spec;
  if (!options.wait) {
    const text = idempotentHit ? `Job ${jobId} was started with this key before.` : `Started job ${jobId}.`;
    print(console, { json, data: { ...shownJob(job), idempotent_hit: idempotentHit }, text });
    return 0;
  }
  const ended = await followJob(shell, engine, {
    jobId,
    timeoutMs,
    shows: !json && (console.isTerminal || options.progress === true),
  });
  // Says JOB_FAILED or JOB_CANCELLED, which decide the exit code.
  if (ended.status !== 'succeeded') await app.job(jobId).result();
  const data = { ...shownJob(ended), idempotent_hit: idempotentHit };
  print(console, { json, data, text: JSON.stringify(data.result_json) });
  return 0;
}
