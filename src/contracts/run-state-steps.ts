import type { Change, StepRef, Timestamp } from '../kernel/index.js';
import { utcOrNull } from './utc.js';

export type StepState = 'running' | 'success' | 'failed';

export type HostSnapshot = {
  readonly status: StepState;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly message: string | null;
  readonly output: string | null;
};

export type StepSnapshot = {
  readonly name: string;
  readonly status: StepState;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly message: string | null;
  readonly hosts: Readonly<Record<string, HostSnapshot>>;
};

type Progress = {
  readonly status: StepState;
  readonly startedAt: Timestamp | null;
  readonly finishedAt: Timestamp | null;
  readonly message: string | null;
};

/** The steps that a log speaks of, in the order in which they first appear. A job's own step runs on no host. */
export function stepsOf(changes: readonly Change[]): StepSnapshot[] {
  const steps = new Map<string, Progress>();
  const put = (ref: StepRef, progress: Partial<Progress> & Pick<Progress, 'status'>) => {
    const name = nameOf(ref);
    steps.set(name, { ...(steps.get(name) ?? NOT_STARTED), finishedAt: null, message: null, ...progress });
  };
  for (const { event } of changes) {
    switch (event.type) {
      case 'step.recorded':
        put(event, { status: 'success', startedAt: event.startedAt, finishedAt: event.at });
        break;
      case 'step.failed': {
        const message = event.failure.message;
        const again = event.nextTryAt !== null;
        put(event, {
          status: again ? 'running' : 'failed',
          startedAt: event.startedAt,
          finishedAt: again ? null : event.at,
          message,
        });
        break;
      }
      case 'effect.intended':
        put(event, { status: 'running', startedAt: event.at });
        break;
      case 'effect.recorded':
        put(event, { status: 'success', finishedAt: event.at });
        break;
      case 'effect.closed':
        put(event, { status: 'failed', finishedAt: event.at, message: event.failure.message });
        break;
      case 'effect.unknown':
        put(event, { status: 'running', message: `outcome unknown: ${event.failure.message}` });
        break;
      case 'effect.reconciled':
        if (event.verdict === 'happened') put(event, { status: 'success', finishedAt: event.at });
        if (event.verdict === 'notHappened')
          put(event, { status: 'failed', finishedAt: event.at, message: 'did not happen' });
        break;
      case 'wait.begun':
        for (const wait of event.waits) {
          const startedAt = steps.get(nameOf(wait))?.startedAt ?? event.at;
          put(wait, { status: 'running', startedAt, message: wait.reason });
        }
        break;
      case 'wait.completed':
        put(event.wait, { status: 'success', finishedAt: event.at });
        break;
      default:
        break;
    }
  }
  return [...steps].map(([name, { status, startedAt, finishedAt, message }]) => ({
    name,
    status,
    started_at: utcOrNull(startedAt),
    finished_at: utcOrNull(finishedAt),
    message,
    hosts: {},
  }));
}

const NOT_STARTED: Progress = { status: 'running', startedAt: null, finishedAt: null, message: null };

/** A name that is used once needs no number. */
function nameOf({ step, occurrence }: StepRef): string {
  return occurrence === 1 ? step : `${step}#${occurrence}`;
}
