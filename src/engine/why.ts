import { PawlError } from '../errors.js';
import {
  attemptOf,
  claimableAt,
  decidedEntry,
  laneOf,
  PAUSE_PREFIX,
  rowOf,
  type Job,
  type Timestamp,
  type Wait,
} from '../kernel/index.js';
import type { Engine } from './engine.js';
import { isSuspect } from './suspect.js';

/** What a job is waiting for. `code` is stable; `sentence` is for people. */
export type Explanation = {
  readonly code:
    | 'finished'
    | 'running'
    | 'worker_gone'
    | 'not_due'
    | 'retry'
    | 'held'
    | 'queue_paused'
    | 'key_limit'
    | 'suspect'
    | 'no_worker'
    | 'about_to_run'
    | 'signal'
    | 'timer'
    | 'child'
    | 'effect_unknown'
    | 'nondeterminism';
  readonly sentence: string;
  readonly until: Timestamp | null;
};

const utc = (at: Timestamp): string =>
  new Intl.DateTimeFormat('sv-SE', UTC).format(at).replace(' ', 'T') + 'Z';
const UTC = { timeZone: 'UTC', dateStyle: 'short', timeStyle: 'medium' } as const;

/** Explains in one sentence what a job is waiting for. */
export async function explain(engine: Engine, jobId: string): Promise<Explanation> {
  const { found, now } = await engine.store.load(jobId);
  if (found === null) throw new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${jobId}` });
  const { job } = found;
  switch (job.status) {
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return said('finished', `It is over: ${job.status} at ${utc(job.finishedAt ?? now)}.`);
    case 'running':
      return explainRunning(engine, job, now);
    case 'waiting':
      return explainWait(job);
    default:
      return explainIdle(engine, job, now);
  }
}

async function explainRunning(engine: Engine, job: Job, now: Timestamp): Promise<Explanation> {
  const { id = '', incarnation = '' } = job.worker ?? {};
  const { workers } = await engine.store.workers({ incarnations: [incarnation] });
  const [holder] = workers;
  if (holder && !holder.dead && now < holder.leaseUntil) {
    const until = holder.leaseUntil;
    return said(
      'running',
      `Worker ${id} runs attempt ${attemptOf(job)}; its lease holds until ${utc(until)}.`,
      until,
    );
  }
  return said('worker_gone', `Worker ${id} is gone; another takes the job over at the next recovery round.`);
}

function explainWait(job: Job): Explanation {
  const [first] = job.waits;
  if (first === undefined) return said('about_to_run', 'Its waits are over; it is about to run.');
  const more = job.waits.length > 1 ? ` It has ${job.waits.length - 1} more open waits.` : '';
  const { code, sentence, until } = explainOne(first);
  return said(code, sentence + more, until);
}

function explainOne(wait: Wait): Explanation {
  const { kind, key, step, reason, expiresAt } = wait;
  const entry = decidedEntry(wait);
  if (entry) {
    const effect = `${entry.step}#${entry.occurrence}`;
    return said(
      'effect_unknown',
      `Nobody knows whether effect '${effect}' happened: an operator must decide.`,
    );
  }
  if (reason === 'nondeterminism') {
    return said(
      'nondeterminism',
      'Its handler no longer follows its history: run the right code, then resume it.',
    );
  }
  const until = expiresAt === null ? '' : ` until ${utc(expiresAt)}`;
  if (step.startsWith(PAUSE_PREFIX)) {
    const paused = step.slice(PAUSE_PREFIX.length);
    return said(
      'timer',
      `It pauses${until}; then step '${paused}' is tried again, or asked about.`,
      expiresAt,
    );
  }
  if (kind === 'timer') return said('timer', `It sleeps at step '${step}'${until}.`, expiresAt);
  if (kind === 'child') return said('child', `It waits for its child '${reason ?? ''}' of step '${step}'.`);
  const because = reason === null ? '' : ` (${reason})`;
  return said('signal', `It waits for ${kind} '${key}'${because}${until}.`, expiresAt);
}

/** Claimable, now or later: what keeps it from being claimed? */
async function explainIdle(engine: Engine, job: Job, now: Timestamp): Promise<Explanation> {
  const { jobId, queue, task, version } = job.spec;
  const { hold } = await engine.store.heldFor(jobId);
  if (hold)
    return said('held', `It is held by ${hold.by} since ${utc(hold.since)} (${hold.reason}): release it.`);
  const dueAt = claimableAt(job);
  if (dueAt !== null && dueAt > now) {
    if (job.status === 'retrying') {
      const failed = job.failure ? ` after ${job.failure.code}` : '';
      return said('retry', `Attempt ${attemptOf(job)} is due at ${utc(dueAt)}${failed}.`, dueAt);
    }
    return said('not_due', `It is due at ${utc(dueAt)}.`, dueAt);
  }
  const paused = (await engine.store.pausedQueues()).queues.find((one) => one.queue === queue);
  if (paused)
    return said('queue_paused', `Queue '${queue}' is paused by ${paused.by} since ${utc(paused.since)}.`);
  const { workers } = await engine.store.workers({ incarnations: null });
  const able = workers.filter(
    ({ lanes, leaseUntil }) => now < leaseUntil && lanes.includes(laneOf(job.spec)),
  );
  if (able.length === 0) {
    const versioned = version === null ? '' : ` in version '${version}'`;
    return said('no_worker', `No live worker knows task '${task}'${versioned} on queue '${queue}'.`);
  }
  const holders = await keyHolders(engine, job);
  if (holders.length > 0) {
    const key = job.spec.concurrencyKey || null;
    const shared = key === null ? `Its tenant's share of task '${task}'` : `Its concurrency key '${key}'`;
    return said('key_limit', `${shared} is in use by ${holders.join(', ')}.`);
  }
  if (isSuspect(job)) {
    const busy = await runningSuspects(engine);
    if (able.every(({ worker }) => busy.has(worker.incarnation))) {
      const times = `${job.recoveryCount} times in a row`;
      return said(
        'suspect',
        `It has lost its worker ${times} without recording a step: it is run beside no other such job, and waits for one that runs.`,
      );
    }
  }
  const workersThat = able.length === 1 ? 'A live worker' : `One of ${able.length} live workers`;
  return said('about_to_run', `${workersThat} claims it as soon as it has room.`);
}

/** Of the running jobs, the newest. */
const MOST_LOOKED_AT = 200;

/** A few of the running jobs that share its concurrency key; for the empty one, that of any. */
async function keyHolders(engine: Engine, job: Job): Promise<string[]> {
  const { gate, tenantId, task } = rowOf(job);
  if (gate === '') return [];
  const { rows } = await engine.store.list({
    tenantId,
    statuses: ['running'],
    task,
    limit: MOST_LOOKED_AT,
    cursor: null,
  });
  return rows
    .filter((row) => row.gate === gate || (job.spec.concurrencyKey === '' && row.gate.startsWith(gate)))
    .map(({ jobId }) => jobId)
    .slice(0, 3);
}

/** The workers that run a job which may take them down. */
async function runningSuspects({ store }: Engine): Promise<Set<string>> {
  const running = {
    tenantId: null,
    statuses: ['running'],
    task: null,
    limit: MOST_LOOKED_AT,
    cursor: null,
  } as const;
  const { rows } = await store.list(running);
  const jobs = await Promise.all(rows.map(async ({ jobId }) => (await store.load(jobId)).found?.job));
  return new Set(jobs.flatMap((job) => (job?.worker && isSuspect(job) ? [job.worker.incarnation] : [])));
}

function said(code: Explanation['code'], sentence: string, until: Timestamp | null = null): Explanation {
  return { code, sentence, until };
}
