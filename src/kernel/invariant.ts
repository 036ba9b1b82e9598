import type { Change } from './history.js';
import type { Job } from './job.js';
import { stepKey } from './step-ref.js';
import { isTerminal } from './status.js';

/** What must hold for a job by itself, after every event. */
export const JOB_INVARIANTS: Readonly<Record<string, (job: Job) => boolean>> = {
  'next_retry_at is set exactly while retrying': (job) =>
    (job.nextRetryAt !== null) === (job.status === 'retrying'),
  'retries stay within the policy': (job) =>
    job.retryCount >= 0 && job.retryCount <= job.spec.retry.maxRetries,
  'only a running job is leased': (job) =>
    job.status === 'running'
      ? job.worker !== null && job.attemptId !== null && job.claimedAt !== null && !job.fenced
      : job.worker === null || job.status === 'dlq_pending' || job.status === 'dlq_recorded',
  'a waiting job has open waits': (job) => job.status !== 'waiting' || job.waits.length > 0,
  'a finished job has no open waits': (job) => !isTerminal(job.status) || job.waits.length === 0,
  'failed only with a dead-letter item': (job) =>
    (job.status === 'failed') ===
    (job.deadLetter !== null && job.deadLetter.dlqId !== null && isTerminal(job.status)),
  'finished_at is set exactly at the end': (job) => (job.finishedAt !== null) === isTerminal(job.status),
  'a result exists exactly after success': (job) => (job.result !== null) === (job.status === 'succeeded'),
  'interrupted_reason is set while interrupted': (job) =>
    job.status !== 'interrupted' || job.interruptedReason !== null,
};

/** What must hold for a job's whole history. Each finds its own breach, or null. */
export const HISTORY_INVARIANTS: Readonly<Record<string, (changes: readonly Change[]) => string | null>> = {
  'one terminal event, and nothing after it': (changes) => {
    const end = changes.findIndex(({ after }) => isTerminal(after.status));
    return end === -1 || end === changes.length - 1 ? null : `an event follows the end at ${end}`;
  },
  'every claim has an attempt id of its own': (changes) =>
    findTwin(changes.flatMap(({ event }) => (event.type === 'attempt.started' ? [event.attemptId] : []))),
  'one wait_completed for each correlation key': (changes) =>
    findTwin(changes.flatMap(({ event }) => (event.type === 'wait.completed' ? [event.wait.key] : []))),
  'one recorded result for each step': (changes) =>
    findTwin(
      changes.flatMap(({ event }) =>
        event.type === 'step.recorded' ||
        event.type === 'effect.recorded' ||
        (event.type === 'effect.reconciled' && event.verdict === 'happened')
          ? [stepKey(event)]
          : [],
      ),
    ),
  'an effect is entered again only after its entry was closed': findDoubleEntry,
  'no timer fires early': (changes) => {
    const early = changes.find(
      ({ event }) =>
        event.type === 'wait.completed' &&
        (event.outcome === 'elapsed' || event.outcome === 'timeout') &&
        (event.wait.expiresAt === null || event.at < event.wait.expiresAt),
    );
    return early ? `revision ${early.rev}` : null;
  },
  'a waiting job is never claimed': (changes) => {
    const claimed = changes.find(
      ({ before, event }) => event.type === 'attempt.started' && before?.status === 'waiting',
    );
    return claimed ? `revision ${claimed.rev}` : null;
  },
};

/** The names of all invariants that a history breaks, with where. Empty is right. */
export function findBreaches(changes: readonly Change[]): string[] {
  const breaches: string[] = [];
  for (const { rev, after } of changes) {
    for (const [name, holds] of Object.entries(JOB_INVARIANTS)) {
      if (!holds(after)) breaches.push(`${name}: revision ${rev}`);
    }
  }
  for (const [name, find] of Object.entries(HISTORY_INVARIANTS)) {
    const breach = find(changes);
    if (breach !== null) breaches.push(`${name}: ${breach}`);
  }
  return breaches;
}

function findTwin(values: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const value of values) {
    if (seen.has(value)) return value;
    seen.add(value);
  }
  return null;
}

function findDoubleEntry(changes: readonly Change[]): string | null {
  const entries = new Map<string, { readonly entry: number; readonly open: boolean }>();
  for (const { event } of changes) {
    const closes =
      event.type === 'effect.closed' ||
      (event.type === 'effect.reconciled' && event.verdict === 'notHappened');
    if (event.type === 'effect.intended') {
      const last = entries.get(stepKey(event)) ?? { entry: 0, open: false };
      if (last.open || event.entry !== last.entry + 1) return stepKey(event);
      entries.set(stepKey(event), { entry: event.entry, open: true });
    } else if (closes) {
      entries.set(stepKey(event), { entry: event.entry, open: false });
    }
  }
  return null;
}
