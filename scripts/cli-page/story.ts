import type { Recorder } from './recorder.js';

const TASKS = `
import { effect, task, type HandlerContext } from 'pawl';

const charge = effect({
  name: 'charge',
  run: ({ cents }: { cents: number }) => ({ id: 'ch_1', cents }),
});

export const order = task(
  { name: 'order' },
  async ({ input, step }: HandlerContext<{ id: string; cents: number }>) => {
    const paid = await step.effect('charge', charge, { cents: input.cents });
    await step.run('ship', () => 'shipped');
    return { paid: paid.id };
  },
);

export const approval = task({ name: 'approval' }, ({ step }) =>
  step.waitFor('approval', { reason: 'over 1,000 €' }),
);

export const fragile = task({ name: 'fragile', retry: { maxRetries: 0 } }, () => {
  throw new Error('the printer is on fire');
});

export const sync = task({ name: 'sync' }, () => new Promise(() => undefined));

const transfer = effect({
  name: 'transfer',
  run: (): string => {
    throw new Error('connection reset');
  },
});

export const payout = task({ name: 'payout' }, ({ step }) => step.effect('transfer', transfer, null));
`;

const CONFIG = `
import { defineConfig } from 'pawl';

export default defineConfig({
  store: 'sqlite:pawl.db',
  tasks: ['tasks.ts'],
  worker: { concurrency: 10, lease: '30s' },
});
`;

const id = (of: Readonly<Record<string, unknown>>, member = 'job_id'): string => String(of[member]);

/** Every command once, in the order in which somebody may come to need them. */
export async function tell(recorder: Recorder): Promise<void> {
  recorder.text('## An application');
  recorder.file('tasks.ts', TASKS);
  recorder.file('pawl.config.ts', CONFIG);
  await starting(recorder);
  const worker = await recorder.begin(['worker'], /worker {3}runs/);
  const jobs = await working(recorder);
  await recorder.end(worker, ['worker']);
  await looking(recorder, jobs);
  await failing(recorder);
  await recurring(recorder);
  await workflows(recorder);
  await opening(recorder);
  await checking(recorder);
}

async function starting(recorder: Recorder): Promise<void> {
  recorder.text('## start', 'Without a worker a job waits. The same key again finds the same job.');
  await recorder.run('start', 'order', '{"id":"1001","cents":4200}', '--key', 'order-1001');
  await recorder.run('start', 'order', '{"id":"1001","cents":4200}', '--key', 'order-1001');
  await recorder.run('start', 'order', '{"id":"1001","cents":9900}', '--key', 'order-1001');
}

async function working(recorder: Recorder): Promise<{ order: string; approval: string }> {
  const order = await recorder.ask('start', 'order', '{"id":"1002","cents":100}', '--wait');
  const approval = await recorder.ask('start', 'approval');
  await until(recorder, id(approval), 'waiting');
  const payout = await recorder.ask('start', 'payout');
  await until(recorder, id(payout), 'waiting');
  const fragile = await recorder.ask('start', 'fragile');
  await until(recorder, id(fragile), 'failed');
  const other = await recorder.ask('start', 'fragile', '{"again":true}');
  await until(recorder, id(other), 'failed');
  recorder.text(
    '## start --wait',
    'With a worker running (below). Shows the steps as they come; the result is the output, and the exit code says how the job ended.',
  );
  await recorder.run('start', 'order', '{"id":"1003","cents":700}', '--wait', '--progress');
  await recorder.run('start', 'fragile', '--wait');
  recorder.text('## workers and queues');
  await recorder.run('workers');
  await recorder.run('queues', 'list');
  await recorder.run('queues', 'pause', 'default', '--by', 'ada');
  await recorder.run('queues', 'resume', 'default', '--by', 'ada');
  recorder.text('## effects', 'An effect that may or may not have happened waits for somebody to find out.');
  await recorder.run('effects');
  await recorder.run('effects', 'resolve', id(payout), 'transfer', '--happened', '"tr_1"', '--by', 'ada');
  await until(recorder, id(payout), 'succeeded');
  recorder.text(
    '## jobs abandon',
    'What runs and never comes to its end, or is tried in vain, fails for good. Its dead letter can be requeued.',
  );
  const sync = await recorder.ask('start', 'sync');
  await until(recorder, id(sync), 'running');
  await recorder.run('jobs', 'abandon', id(sync), '--reason', 'their server is gone', '--by', 'ada');
  recorder.text(
    '## doctor',
    'Exit code 1 if a check fails, 0 with warnings. `--restored` is for after a restore from a backup: see [backup.md](backup.md).',
  );
  await recorder.run('doctor');
  recorder.text(
    '## worker',
    'The one that ran all this. It runs the tasks of the config, or of the files that are named. SIGTERM and SIGINT let what runs come to its end for as long as `--drain` says; the rest is handed back, which costs no attempt. `--health-port` answers `/healthz` and `/readyz`.',
  );
  return { order: id(order), approval: id(approval) };
}

async function looking(
  recorder: Recorder,
  { order, approval }: { order: string; approval: string },
): Promise<void> {
  recorder.text('## jobs');
  await recorder.run('jobs', 'list', '--limit', '4');
  await recorder.run('jobs', 'list', '--state', 'waiting');
  await recorder.run('jobs', 'show', order);
  await recorder.run('jobs', 'events', order);
  await recorder.run('jobs', 'why', approval);
  await recorder.run('jobs', 'signal', approval, 'approval', '{"by":"Ada"}');
  await recorder.run('jobs', 'signal', approval, 'approval', '{"by":"Ada"}');
  await recorder.run('jobs', 'cancel', approval, '--reason', 'ordered twice', '--by', 'ada');
  await recorder.run('jobs', 'cancel', approval);
  await recorder.run('jobs', 'retry', order);
}

async function workflows(recorder: Recorder): Promise<void> {
  recorder.text('## apply and runs', '[runner.md](runner.md) says what a workflow may have in it.');
  recorder.file('deploy.yaml', DEPLOY);
  await recorder.run('apply', 'deploy.yaml', '--plan');
  await recorder.run('apply', 'deploy.yaml', '--watch', '--run-id', 'release-2027-01');
  await recorder.run('runs', 'list');
  await recorder.run('runs', 'show', 'release-2027-01');
  recorder.text('What is wrong with a file is told with its place, all of it, and nothing is run.');
  recorder.file('wrong.yaml', WRONG);
  await recorder.run('apply', 'wrong.yaml');
  await recorder.run('runs', 'interrupt', '--reason', 'the server was replaced');
  await recorder.run(
    'runs',
    'reconcile',
    'release-2027-01',
    '--outcome',
    'success',
    '--reason',
    'seen',
    '--by',
    'ada',
  );
}

const DEPLOY = `version: 1
name: deploy
inventory: { hosts: { here: { connection: local } } }
vars: { release: '2027-01' }
steps:
  - { name: fetch, action: cmd.run, args: { cmd: [echo, '{{ release }}'] } }
  - { name: install, action: shell.run, when: release == '2027-01', args: { script: 'echo no space >&2; exit 3' } }
`;

const WRONG = `version: 1
name: deploy
steps:
  - { name: fetch, action: cmd.rum, target: web }
  - { name: install, action: cmd.run, args: { cmd: tar -x }, when: release = 1 }
`;

async function failing(recorder: Recorder): Promise<void> {
  recorder.text('## dlq', 'A discard takes two people and a reason.');
  const { items } = (await recorder.ask('dlq', 'list')) as unknown as { items: { dlq_id: string }[] };
  const [first = { dlq_id: '' }, second = { dlq_id: '' }] = items;
  await recorder.run('dlq', 'list');
  await recorder.run('dlq', 'show', first.dlq_id);
  await recorder.run('dlq', 'requeue', first.dlq_id, '--by', 'ada');
  await recorder.run('dlq', 'requeue', first.dlq_id, '--by', 'ada');
  await recorder.run('dlq', 'discard', second.dlq_id, '--reason', 'test data', '--by', 'ada');
  await recorder.run('dlq', 'approve', second.dlq_id, '--by', 'ada');
  await recorder.run('dlq', 'approve', second.dlq_id, '--by', 'bob');
  await recorder.run('dlq', 'requeue-all', '--task', 'fragile', '--dry-run');
  await recorder.run('dlq', 'requeue-all', '--task', 'fragile', '--rate', '50', '--by', 'ada');
}

async function recurring(recorder: Recorder): Promise<void> {
  recorder.text('## schedules');
  const zone = ['--daily', '02:30', '--zone', 'Europe/Berlin'];
  await recorder.run(
    'schedules',
    'put',
    'nightly',
    'order',
    '{"id":"n","cents":1}',
    ...zone,
    '--catch-up',
    'latest',
  );
  await recorder.run('schedules', 'list');
  await recorder.run('schedules', 'pause', 'nightly');
  await recorder.run('schedules', 'resume', 'nightly');
  await recorder.run('schedules', 'trigger', 'nightly');
  await recorder.run('schedules', 'show', 'nightly');
  await recorder.run('schedules', 'delete', 'nightly');
  await recorder.run('schedules', 'put', 'odd', 'order', '--cron', 'every tuesday');
}

async function opening(recorder: Recorder): Promise<void> {
  recorder.text('## keys', 'A key is shown once. While there is one, every request needs one.');
  await recorder.run('keys', 'create', 'dashboard', '--role', 'viewer');
  await recorder.run('keys', 'list');
  const { keys } = (await recorder.ask('keys', 'list')) as unknown as { keys: { key_id: string }[] };
  recorder.text(
    '## server',
    'Opens the HTTP API, and runs jobs only with `--work`. `/openapi.json` describes it.',
  );
  const server = await recorder.begin(['server', '--port', '0'], /worker {3}none/);
  await recorder.end(server, ['server']);
  await recorder.run('keys', 'revoke', keys[0]?.key_id ?? '', '--by', 'ada');
  await recorder.run('server', '--host', '0.0.0.0');
  recorder.text(
    '## dev',
    'Server and worker in one. When the config or the code of a task changes, a new process takes over: the old one drains first, for two seconds unless `--drain` says otherwise.',
  );
  const fresh = ['dev', '--store', 'sqlite:dev.db'];
  const dev = await recorder.begin([...fresh, '--port', '0'], /worker {3}runs/);
  await recorder.end(dev, fresh);
}

async function checking(recorder: Recorder): Promise<void> {
  recorder.text('## After a restore');
  const held = await recorder.ask('start', 'order', '{"id":"1004","cents":1}');
  await recorder.run('doctor', '--restored');
  await recorder.run('release', id(held));
  recorder.text(
    '## export and verify',
    'What happened to jobs, as a file that anyone can check; or the same checks on the store itself.',
  );
  await recorder.run('export', id(held), '--out', 'evidence.jsonl');
  await recorder.run('verify', 'evidence.jsonl');
  await recorder.run('verify');
  recorder.text('## migrate, conformance and gate');
  await recorder.run('migrate');
  await recorder.run('migrate', '--dry-run');
  await recorder.run('conformance', '--topic', 'timers');
  await recorder.run('gate');
  recorder.text(
    '## matrix',
    'Brings about the faults of the [failure matrix](failure-matrix.md) with real processes, on scratch data beside the given file or on the given server: one of them here, all eleven without `--fault`. Exit code 1 if a cell fails.',
  );
  await recorder.run('matrix', '--fault', 'F2', '--trials', '1');
  await recorder.run('matrix', '--store', 'postgres://localhost/app', '--stop-command', 'pg_ctl stop');
  recorder.text('## Mistakes');
  await recorder.run('jobs', 'lst');
  await recorder.run('jobs', 'list', '--state', 'runing');
  await recorder.run('jobs', 'show', '01K0PAWLEXAMPLE00000000000', '--json');
  await recorder.run('jobs', 'list', '--store', 'mysql://ada:secret@localhost/app');
}

/** Asks until a job is where the story wants it. */
async function until(recorder: Recorder, jobId: string, state: string): Promise<void> {
  while ((await recorder.ask('jobs', 'show', jobId))['state'] !== state);
}
