import {
  isTerminal,
  type Change,
  type Event,
  type Failure,
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

type News = StepRef & Pick<Progress, 'status'> & Partial<Progress> & { readonly error?: StepError };

export type StepError = { readonly code: string; readonly message: string };

/** What one event says about a step that has a name of its own. */
export type StepChange = {
  readonly step: string;
  readonly status: StepState;
  readonly error: StepError | null;
};

/** Events that end a run, and with it the steps that are under way. */
const ENDS: ReadonlySet<Event['type']> = new Set(['job.succeeded', 'job.failed', 'job.cancelled']);

/** Whether an event may move steps. Which of them end with a run only its log tells. */
export function mayMoveSteps(event: Event): boolean {
  return ENDS.has(event.type) || newsOf(event).some(({ step }) => !isOurs(step));
}

/** The steps that one of a log's changes moves. */
export function stepsMovedBy(changes: readonly Change[], index: number): StepChange[] {
  const event = changes[index]?.event;
  if (event === undefined) return [];
  if (!ENDS.has(event.type)) return stepChangesOf(event);
  const underWay = [...progressOf(changes.slice(0, index))].filter(([, { status }]) => status === 'running');
  return underWay.map(([step]) => ({ step, status: 'interrupted', error: null }));
}

function stepChangesOf(event: Event): StepChange[] {
  return newsOf(event)
    .filter(({ step }) => !isOurs(step))
    .map(({ status, error = null, ...ref }) => ({ step: shownName(ref), status, error }));
}

/** The engine's own. */
const isOurs = (step: string): boolean => step.startsWith('$');

const shownName = ({ step, occurrence }: StepRef): string =>
  occurrence === 1 ? step : `${step}#${occurrence}`;

/** The steps that a log speaks of, in the order in which they first appear. A job's own step runs on no host. */
export function stepsOf(job: Job, changes: readonly Change[]): StepSnapshot[] {
  return [...progressOf(changes)].map(([name, { status, startedAt, finishedAt, message }]) => ({
    name,
    status: status === 'running' && isTerminal(job.status) ? 'interrupted' : status,
    started_at: utcOrNull(startedAt),
    finished_at: utcOrNull(finishedAt),
    message,
    hosts: {},
  }));
}

/** How far each step has come, by its name. */
function progressOf(changes: readonly Change[]): Map<string, Progress> {
  const steps = new Map<string, Progress>();
  for (const { event } of changes) {
    for (const { step, occurrence, error: _error, ...news } of newsOf(event)) {
      if (isOurs(step)) continue;
      const name = shownName({ step, occurrence });
      steps.set(name, {
        startedAt: steps.get(name)?.startedAt ?? null,
        finishedAt: null,
        message: null,
        ...news,
      });
    }
  }
  return steps;
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
          error: errorOf(failure),
        },
      ];
    }
    case 'effect.intended':
      return [{ ...refOf(event), status: 'running', startedAt: event.at }];
    case 'effect.recorded':
      return [{ ...refOf(event), status: 'success', finishedAt: event.at }];
    case 'effect.closed':
      return [
        {
          ...refOf(event),
          status: 'failed',
          finishedAt: event.at,
          message: event.failure.message,
          error: errorOf(event.failure),
        },
      ];
    case 'effect.unknown':
      return [
        {
          ...refOf(event),
          status: 'running',
          message: `outcome unknown: ${event.failure.message}`,
          error: errorOf(event.failure),
        },
      ];
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

function errorOf({ code, message }: Failure): StepError {
  return { code, message };
}

function refOf({ step, occurrence }: StepRef): StepRef {
  return { step, occurrence };
}
