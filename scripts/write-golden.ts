/**
 * Writes test/golden/events-v{CODEC_VERSION}.json: commits as this version stores them, and the jobs they amount to.
 * Run once when a version is born. An existing file is never touched, since old logs do not change either.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { CODEC_VERSION, encodeEvents, evolve, type Event, type Job } from '../src/kernel/index.js';
import {
  claimedBy,
  created,
  deadLettered,
  event,
  interrupted,
  scheduled,
  waitingFor,
} from '../src/testkit/index.js';

/** Nothing of this is as most jobs have it. */
const unusual = {
  version: '2',
  deadlineAt: 4_000_000_000_000,
  timeoutMs: 30_000,
  stepTimeoutMs: 5_000,
  idempotencyScope: 'tenant_a',
  signals: ['approval'],
  concurrencyKey: 'customer-1',
  parent: { jobId: 'job_parent_1', step: 'ship', occurrence: 2 },
  requeuedFrom: 'dlq_job_before',
  continues: { jobId: 'job_before_2', origin: 'job_before_1' },
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  firedBy: { scheduleId: 'nightly', fireAt: 1_772_020_800_000 },
  attemptBase: 2,
  queue: 'slow',
  priority: -7,
  scheduleType: 'cron',
  retry: { maxRetries: 9, baseMs: 50, maxBackoffMs: 500, jitterMs: 0 },
  recovery: 'abort',
  maxRecoveries: 0,
} as const;

/** All of this is. */
const usual = {
  tenantId: 'default',
  taskId: 'job_00000001',
  idempotencyKey: 'job_00000001',
  traceId: 'trace-run-job_00000001-8d0fef97-3b71-4c81-9579-5088e5291318',
};

const namedAfterItsWorker = event('attempt.started', {
  actor: 'worker:worker-a',
  attemptId: 'worker-a.1/1',
  worker: { id: 'worker-a', incarnation: 'worker-a.1' },
});

const LOGS: readonly (readonly (readonly Event[])[])[] = [
  [
    created(unusual),
    [claimedBy('worker-a')],
    [event('step.failed'), event('step.recorded', { output: '{"text":"Zürich \\n 東京 🚀"}' })],
    [event('effect.intended')],
    [event('effect.unknown')],
    [waitingFor({ reason: 'manager', expiresAt: 1_772_020_900_000 })],
    [event('wait.completed')],
    [claimedBy('worker-b')],
    [event('effect.reconciled')],
    [event('effect.intended', { entry: 2 })],
    [event('effect.closed', { entry: 2 })],
    [event('effect.intended', { entry: 3 })],
    [event('effect.recorded', { entry: 3 }), event('checkpoint.saved')],
    [event('child.started')],
    [event('attempt.failed')],
    [claimedBy('worker-b', 2)],
    [interrupted(), ...deadLettered({ from: 'interrupted', reason: 'recovery_aborted' })],
  ],
  [
    created(),
    [claimedBy('worker-a')],
    [event('effect.intended')],
    [event('effect.reconciled', { verdict: 'happened', result: '"found"' })],
    [event('wait.completed', { outcome: 'timeout', payload: null })],
    [event('job.succeeded')],
  ],
  [scheduled(), [event('job.cancelled', { reason: 'changed my mind' })]],
  [
    created(usual),
    [namedAfterItsWorker],
    [
      event('step.recorded'),
      event('wait.completed', { payload: null }),
      event('wait.completed', { payload: '"yes"' }),
      event('step.recorded', { occurrence: 2 }),
      event('step.recorded', { step: 'slow', startedAt: 1_772_020_799_000 }),
      event('step.recorded', { step: 'slow', occurrence: 2, startedAt: 1_772_020_799_500 }),
    ],
    [event('job.succeeded')],
  ],
];

const file = new URL(`test/golden/events-v${CODEC_VERSION}.json`, `file://${process.cwd()}/`);
if (existsSync(file)) {
  console.error(`${file.pathname} exists: a golden file is never rewritten`);
  process.exit(1);
}
const jobs: Job[] = LOGS.map((log) => {
  let job: Job | null = null;
  for (const next of log.flat()) job = evolve(job, next);
  if (!job) throw new Error('a log makes a job');
  return job;
});
const commits = LOGS.map((log) => log.map((events) => ({ body: encodeEvents(events), events })));
writeFileSync(file, `${JSON.stringify({ version: CODEC_VERSION, commits, jobs }, null, 2)}\n`);
console.log(`wrote ${file.pathname}`);
