import {
  isTerminal,
  type Change,
  type Event,
  type Job,
  type StepRef,
  type Timestamp,
  type WaitOutcome,
} from '../kernel/index.js';
import { utcOrNull } from './utc.js';

/** `interrupted`: the run ended while the step was under way. `skipped`: nothing was to be done. */
export type StepState = 'running' | 'success' | 'failed' | 'interrupted' | 'skipped';

export type HostSnapshot = {
  readonly status: StepState;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly message: string | null;
  /** The end of what it wrote: 64 KiB at most. */
  readonly output: string | null;
  /** Whether the beginning of the output was left out. */
  readonly output_truncated: boolean;
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

type News = StepRef & Pick<Progress, 'status'> & Partial<Progress>;

/** The steps that a log speaks of, in the order in which they first appear. A job's own step runs on no host. */
export function stepsOf(job: Job, changes: readonly Change[]): StepSnapshot[] {
  const steps = new Map<string, Progress>();
  for (const { event } of changes) {
    for (const { step, occurrence, ...news } of newsOf(event)) {
      if (step.startsWith('$')) continue;
      const name = occurrence === 1 ? step : `${step}#${occurrence}`;
      steps.set(name, {
        startedAt: steps.get(name)?.startedAt ?? null,
        finishedAt: null,
        message: null,
        ...news,
      });
    }
  }
  return [...steps].map(([name, { status, startedAt, finishedAt, message }]) => ({
    name,
    status: status === 'running' && isTerminal(job.status) ? 'interrupted' : status,
    started_at: utcOrNull(startedAt),
    finished_at: utcOrNull(finishedAt),
    message,
    hosts: {},
  }));
}

/** What an event says about steps. */
function newsOf(event: Event): News[] {
  switch (event.type) {
    case 'step.recorded':
      return [{ ...refOf(event), status: 'success', startedAt: event.startedAt, finishedAt: event.at }];
    case 'step.failed': {
      const { startedAt, failure, nextTryAt } = event;
      const ended = nextTryAt === null;
      return [
        {
          ...refOf(event),
          status: ended ? 'failed' : 'running',
          startedAt,
          finishedAt: ended ? event.at : null,
          message: failure.message,
        },
      ];
    }
    case 'effect.intended':
      return [{ ...refOf(event), status: 'running', startedAt: event.at }];
    case 'effect.recorded':
      return [{ ...refOf(event), status: 'success', finishedAt: event.at }];
    case 'effect.closed':
      return [{ ...refOf(event), status: 'failed', finishedAt: event.at, message: event.failure.message }];
    case 'effect.unknown':
      return [{ ...refOf(event), status: 'running', message: `outcome unknown: ${event.failure.message}` }];
    case 'effect.reconciled':
      return [
        {
          ...refOf(event),
          ...VERDICTS[event.verdict],
          finishedAt: event.verdict === 'cannotTell' ? null : event.at,
        },
      ];
    case 'wait.begun':
      return event.waits.map((wait) => ({
        ...refOf(wait),
        status: 'running',
        startedAt: event.at,
        message: wait.reason,
      }));
    case 'child.started':
      return [{ ...refOf(event.wait), status: 'running', startedAt: event.at, message: event.child.childId }];
    case 'wait.completed':
      return [{ ...refOf(event.wait), ...OUTCOMES[event.outcome], finishedAt: event.at }];
    default:
      return [];
  }
}

const VERDICTS = {
  happened: { status: 'success', message: null },
  notHappened: { status: 'failed', message: 'did not happen' },
  cannotTell: { status: 'running', message: 'outcome unknown' },
} as const;

const OUTCOMES: Readonly<Record<WaitOutcome, Pick<Progress, 'status' | 'message'>>> = {
  received: { status: 'success', message: null },
  elapsed: { status: 'success', message: null },
  timeout: { status: 'failed', message: 'timed out' },
  deadline: { status: 'failed', message: 'the run passed its deadline' },
};

function refOf({ step, occurrence }: StepRef): StepRef {
  return { step, occurrence };
}
