import type { ErrorEntry } from './error-entry.js';
import type { FailureCode } from '../kernel/index.js';

/** What an attempt, or a step, fails with if the engine says so. */
export const FAILURES: Readonly<Record<FailureCode, ErrorEntry>> = {
  TASK_EXECUTION_FAILED: {
    class: 'transient',
    retryable: true,
    meaning: 'The handler threw.',
    advice: 'See the message. It is retried while the retry policy allows.',
  },
  TASK_TIMEOUT: {
    class: 'transient',
    retryable: true,
    meaning: 'One attempt took longer than its start-to-close timeout.',
    advice: 'Raise `timeoutMs`, or do less in one attempt.',
  },
  PROCESS_RESTARTED: {
    class: 'permanent',
    retryable: false,
    meaning: 'The worker vanished, and the job is not resumed: by policy, or because it crashed too often.',
    advice: 'Find out why workers die on this job, then requeue it.',
  },
  DEADLINE_EXCEEDED: {
    class: 'permanent',
    retryable: false,
    meaning: 'The job did not finish before its deadline.',
    advice: 'Requeue it with a later deadline, if it still makes sense.',
  },
  ABANDONED: {
    class: 'permanent',
    retryable: false,
    meaning: 'An operator gave the job up.',
    advice: 'See the reason that was given.',
  },
  EFFECT_UNKNOWN: {
    class: 'permanent',
    retryable: false,
    meaning: 'The job failed because nobody could tell whether an effect had happened.',
    advice: 'Find out on the other side before you requeue it.',
  },
  STEP_TIMEOUT: {
    class: 'transient',
    retryable: true,
    meaning: 'One step took longer than its timeout.',
    advice: 'Raise the timeout, or do less in one step.',
  },
};
