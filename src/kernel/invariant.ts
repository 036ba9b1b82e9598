import type { Change } from './history.js';
import type { Job } from './job.js';
import { retryDelayMs } from './retry-policy.js';
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

/** Looks at one change after the other, and answers with the breach that a change makes; else null. */
export type HistoryWatch = (change: Change) => string | null;

/** What must hold for a job's whole history. Each watches one history, and keeps no more of it than it needs. */
export const HISTORY_INVARIANTS: Readonly<Record<string, () => HistoryWatch>> = {
  'one terminal event, and nothing after it': () => {
    let end: number | null = null;
    return ({ rev, after }) => {
      if (end !== null) return `an event follows the end at revision ${end}`;
      if (isTerminal(after.status)) end = rev;
      return null;
    };
  },
  'every claim has an attempt id of its own': () =>
    noTwins(({ event }) => (event.type === 'attempt.started' ? event.attemptId : null)),
  'one wait_completed for each correlation key': () =>
    noTwins(({ event }) => (event.type === 'wait.completed' ? event.wait.key : null)),
  'one recorded result for each step': () =>
    noTwins(({ event }) =>
      event.type === 'step.recorded' ||
      event.type === 'effect.recorded' ||
      (event.type === 'effect.reconciled' && event.verdict === 'happened')
        ? stepKey(event)
        : null,
    ),
  'an effect is entered again only after its entry was closed': noDoubleEntry,
  'every delay is the policy’s':
    () =>
    ({ rev, event, after: { spec } }) => {
      if (event.type !== 'attempt.failed') return null;
      const { at, retryCount, nextRetryAt } = event;
      const delayMs = retryDelayMs(spec.retry, { seed: spec.jobId, retryCount });
      return nextRetryAt === at + delayMs ? null : `revision ${rev}`;
    },
  'no timer fires early':
    () =>
    ({ rev, event }) =>
      event.type === 'wait.completed' &&
      (event.outcome === 'elapsed' || event.outcome === 'timeout') &&
      (event.wait.expiresAt === null || event.at < event.wait.expiresAt)
        ? `revision ${rev}`
        : null,
  'a waiting job is never claimed':
    () =>
    ({ rev, before, event }) =>
      event.type === 'attempt.started' && before?.status === 'waiting' ? `revision ${rev}` : null,
};

/** Watches one history, change by change, however long it is: the names of the invariants that each breaks, with where. */
export function watchInvariants(): (change: Change) => string[] {
  const watches = Object.entries(HISTORY_INVARIANTS).map(([name, watch]) => [name, watch()] as const);
  return (change) => {
    const breaches: string[] = [];
    for (const [name, holds] of Object.entries(JOB_INVARIANTS)) {
      if (!holds(change.after)) breaches.push(`${name}: revision ${change.rev}`);
    }
    for (const [name, find] of watches) {
      const breach = find(change);
      if (breach !== null) breaches.push(`${name}: ${breach}`);
    }
    return breaches;
  };
}

/** The names of all invariants that a history breaks, with where. Empty is right. */
export function findBreaches(changes: readonly Change[]): string[] {
  const watch = watchInvariants();
  return changes.flatMap((change) => watch(change));
}

/** Breached by a value that comes a second time. */
function noTwins(valueOf: (change: Change) => string | null): HistoryWatch {
  const seen = new Set<string>();
  return (change) => {
    const value = valueOf(change);
    if (value === null) return null;
    if (seen.has(value)) return value;
    seen.add(value);
    return null;
  };
}

function noDoubleEntry(): HistoryWatch {
  const entries = new Map<string, { readonly entry: number; readonly open: boolean }>();
  return ({ event }) => {
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
    return null;
  };
}
