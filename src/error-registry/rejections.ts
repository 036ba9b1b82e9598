import type { ErrorEntry } from './error-entry.js';
import type { RejectionCode } from '../kernel/index.js';

/** What the kernel says no with. */
export const REJECTIONS: Readonly<Record<RejectionCode, ErrorEntry>> = {
  INVALID_COMMAND: {
    class: 'validation',
    retryable: false,
    meaning: 'A field is missing, unknown, or not of its type.',
    advice: 'Correct the field that `field` names.',
  },
  JOB_NOT_FOUND: {
    class: 'validation',
    retryable: false,
    meaning: 'There is no job with this id, or it belongs to another tenant.',
    advice: 'Check the id and the credentials.',
  },
  JOB_EXISTS: {
    class: 'business_rule',
    retryable: false,
    meaning: 'A job with this id exists already.',
    advice: 'Leave the id out, or use an idempotency key to get the existing job back.',
  },
  INVALID_TRANSITION: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The job is in a state from which this cannot happen.',
    advice: 'Read the job again; `from` is the state it was in.',
  },
  STALE_ATTEMPT: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The writer no longer holds the job: its lease was lost, or the job went on without it.',
    advice: 'Stop working on the job. Whoever holds it now will finish it.',
  },
  ATTEMPT_ID_REUSED: {
    class: 'validation',
    retryable: false,
    meaning: 'A claim brought the attempt id of the claim before it.',
    advice: 'Draw a new attempt id for every claim.',
  },
  NOT_DUE: {
    class: 'business_rule',
    retryable: true,
    meaning: 'The time for this has not come.',
    advice: 'Try again at `dueAt`; null means that it never falls due.',
  },
  DEADLINE_PASSED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The job is past its deadline: nothing new is begun.',
    advice: 'Let it be dead-lettered, then requeue it with a later deadline if it still makes sense.',
  },
  LEASE_ALIVE: {
    class: 'business_rule',
    retryable: true,
    meaning: 'The job is still held by a live worker.',
    advice: 'Wait until the lease has expired.',
  },
  INVALID_SIGNAL_KEY: {
    class: 'validation',
    retryable: false,
    meaning: 'The correlation key is malformed, or not one that the task declares.',
    advice: 'Use a key that the task declares: letters, digits, and . _ : - up to 128 characters.',
  },
  WAIT_NOT_OPEN: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The job does not wait for this.',
    advice: 'Look at the waits that the job has open.',
  },
  WAIT_KEY_REUSED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The handler waits twice with one correlation key.',
    advice: 'Give every wait of a job a key of its own.',
  },
  CHECKPOINT_UNSETTLED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'A checkpoint was asked for while `step` had begun and not ended.',
    advice: 'Await every step, effect and wait before the checkpoint.',
  },
  STEP_ALREADY_RECORDED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'This step of the job has a recorded result, which never changes.',
    advice: 'Use the recorded result.',
  },
  NONDETERMINISM: {
    class: 'permanent',
    retryable: false,
    meaning: 'The handler does at `step` something else than its history says.',
    advice: 'Run the code that the job began with, or give the changed task a new version.',
  },
  EFFECT_RECORDED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The effect has a recorded result.',
    advice: 'Use the recorded result.',
  },
  EFFECT_IN_FLIGHT: {
    class: 'transient',
    retryable: true,
    meaning: 'Another live attempt is inside this effect.',
    advice: 'Wait until it has finished or its worker is gone.',
  },
  EFFECT_BARRIER: {
    class: 'permanent',
    retryable: false,
    meaning: 'The effect was entered and nobody knows whether it happened. It is not entered again.',
    advice: 'Find out what happened, by `reconcile` or by an operator.',
  },
  EFFECT_UNSETTLED: {
    class: 'transient',
    retryable: true,
    meaning: 'It is too early to say what became of the effect: it may still be on its way.',
    advice: 'Ask again at `settledAt`, once its body has ended or its worker is gone.',
  },
  EFFECT_ENTRY_CLOSED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'This entry of the effect was closed as not having happened.',
    advice: 'Work on the latest entry. A result that arrives late is kept for an operator.',
  },
};
