import type { Event, JobSpec } from '../../kernel/index.js';

/** What handlers of the simulator may fail with. Anything else says that the engine has led one astray. */
const FORESEEN: ReadonlySet<string> = new Set([
  'TASK_EXECUTION_FAILED',
  'TASK_TIMEOUT',
  'STEP_TIMEOUT',
  'EFFECT_UNKNOWN',
  'INVALID_SIGNAL_KEY',
  'DEADLINE_PASSED',
  'DEADLINE_EXCEEDED',
  'PROCESS_RESTARTED',
  'ABANDONED',
]);

const PROGRESS: ReadonlySet<Event['type']> = new Set<Event['type']>([
  'step.recorded',
  'effect.recorded',
  'effect.reconciled',
  'wait.completed',
  'child.started',
]);

type Problem = readonly [invariant: number, problem: string];

/** Counts the attempts and crashes of one job by itself, and not by what the job says of them. */
export class AttemptCounts {
  #retries = 0;
  #crashes = 0;
  #aborts = false;

  *take(event: Event, { retry, recovery, maxRecoveries, continues }: JobSpec): Generator<Problem> {
    if (this.#aborts && event.type !== 'dlq.entered')
      yield [13, 'it goes on after a crash, though it must not'];
    this.#aborts = false;
    if (PROGRESS.has(event.type) && !(event.type === 'effect.reconciled' && event.verdict !== 'happened'))
      this.#crashes = 0;
    if (event.type === 'attempt.failed') {
      this.#retries += 1;
      if (this.#retries > retry.maxRetries) yield [13, `retry ${this.#retries} of ${retry.maxRetries}`];
      if (event.retryCount !== this.#retries)
        yield [19, `retry ${this.#retries} is counted as ${event.retryCount}`];
      if (!event.failure.retryable) yield [13, `${event.failure.code} is retried, though it must not be`];
    }
    if (event.type === 'attempt.interrupted' && event.reason !== 'drained') {
      this.#crashes += 1;
      this.#aborts = recovery === 'abort' || this.#crashes > maxRecoveries;
    }
    if (event.type === 'dlq.entered' && event.reason === 'recovery_aborted') {
      const isDue = recovery === 'abort' || this.#crashes > maxRecoveries;
      if (!isDue) yield [13, `given up after ${this.#crashes} crashes of ${maxRecoveries}`];
    }
    if (event.type !== 'attempt.failed' && event.type !== 'dlq.entered') return;
    // What a job was to go on with may have been purged: then it must not go on.
    const isGone = continues !== null && event.failure.code === 'CONTINUED_JOB_GONE';
    if (!isGone && !FORESEEN.has(event.failure.code))
      yield [7, `it failed with ${event.failure.code}: ${event.failure.message}`];
  }
}
