import { DEFAULT_RETRY, effectDecisionWait, type Event, type Status } from '../kernel/index.js';
import {
  claimedBy,
  created,
  deadLettered,
  event,
  interrupted,
  scheduled,
  waitingFor,
} from './sample-events.js';
import { T0 } from './sample-job.js';

/** Without jitter, so that the samples' retry is due when its policy says. */
const retry = { ...DEFAULT_RETRY, jitterMs: 0 };
const spec = { timeoutMs: 1_000, deadlineAt: T0 + 1_000_000, retry };
const running: readonly Event[] = [...created(spec), claimedBy('worker-a'), event('effect.intended')];
const waiting: readonly Event[] = [
  ...running,
  waitingFor({ expiresAt: T0 + 1_000 }, effectDecisionWait({ step: 'charge', occurrence: 1, entry: 1 })),
];
const exhausted = deadLettered();

/**
 * A past for every state: the sample worker's first attempt, with an effect under way, as far as the state allows.
 * The waiting one waits for the signal `approval` and for a decision about that effect.
 */
export const PASTS: Readonly<Record<Status, readonly Event[]>> = {
  scheduled: scheduled(spec),
  queued: created(spec),
  running,
  waiting,
  unblocked: [...waiting, event('wait.completed')],
  retrying: [...running, event('attempt.failed')],
  interrupted: [...running, interrupted()],
  dlq_pending: [...running, ...exhausted.slice(0, 1)],
  dlq_recorded: [...running, ...exhausted.slice(0, 2)],
  succeeded: [...running, event('job.succeeded')],
  failed: [...running, ...exhausted],
  cancelled: [...running, event('job.cancelled')],
};
