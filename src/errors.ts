import type { ErrorClass, FailureCode, RejectionCode } from './kernel/index.js';

/** Codes that do not come from the kernel's decisions but from what stands around them. */
export const SURROUNDING_CODES = [
  'DUPLICATE',
  'RUN_ACTIVE',
  'EFFECT_LATE_RESULT',
  'STORE_BUSY',
  'STORE_TOO_NEW',
  'STORE_UNAVAILABLE',
  'STORE_URL_INVALID',
  'STORE_OUTDATED',
  'STORE_READ_ONLY',
  'STORE_FULL',
  'STORE_ACCESS_DENIED',
  'TX_UNSUPPORTED',
  'EVENT_UNREADABLE',
  'EVENT_TOO_NEW',
] as const;

export type ErrorCode = RejectionCode | FailureCode | (typeof SURROUNDING_CODES)[number];

export type ErrorEntry = {
  readonly class: ErrorClass;
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean;
  readonly meaning: string;
  /** What whoever sees it should do. */
  readonly advice: string;
};

/** Every error code of the system, once. docs/errors.md is compared with it by a test. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = {
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
  DUPLICATE: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The idempotency key, or the task id, belongs to a job that asked for something else.',
    advice: 'Use a new key, or repeat the first request; `conflict_fields` says what differs.',
  },
  RUN_ACTIVE: {
    class: 'business_rule',
    retryable: true,
    meaning: 'Another run of this task is still live.',
    advice: 'Wait for it to finish, or cancel it.',
  },
  EFFECT_LATE_RESULT: {
    class: 'permanent',
    retryable: false,
    meaning: 'A result arrived for an effect that had been declared not to have happened.',
    advice: 'Compare both sides: the effect may have happened twice.',
  },
  STORE_BUSY: {
    class: 'transient',
    retryable: true,
    meaning: 'Another process kept the store locked for too long.',
    advice: 'Look for a long transaction, such as an open shell on the database file.',
  },
  STORE_TOO_NEW: {
    class: 'permanent',
    retryable: false,
    meaning: 'The store was migrated by a later release.',
    advice: 'Upgrade this process.',
  },
  STORE_UNAVAILABLE: {
    class: 'transient',
    retryable: true,
    meaning: 'The store cannot be reached, or cannot be written to.',
    advice: 'Check its address, that it is up, and that there is space left.',
  },
  STORE_URL_INVALID: {
    class: 'validation',
    retryable: false,
    meaning: 'The address of the store is not one.',
    advice: 'Use `memory:`, `sqlite:` and a path, or `postgres://user@host/database`.',
  },
  STORE_OUTDATED: {
    class: 'permanent',
    retryable: false,
    meaning: "The store's schema is older than this release, and it was opened without leave to change it.",
    advice:
      'Run `pawl migrate`, or have someone with the right to change the schema run what `pawl migrate --dry-run` prints.',
  },
  STORE_READ_ONLY: {
    class: 'permanent',
    retryable: false,
    meaning: 'The store can be read but not written.',
    advice: 'Give this user write access to the file and its folder, or connect to the primary server.',
  },
  STORE_FULL: {
    class: 'transient',
    retryable: true,
    meaning: 'The disk under the store is full. Nothing of what was asked for has been saved.',
    advice: 'Free some space; work goes on by itself.',
  },
  STORE_ACCESS_DENIED: {
    class: 'permanent',
    retryable: false,
    meaning: 'The store refuses this user or password.',
    advice: 'Correct the user and password in the address of the store.',
  },
  TX_UNSUPPORTED: {
    class: 'validation',
    retryable: false,
    meaning: 'This store cannot save within a transaction of the application.',
    advice: 'Use Postgres and pass a `pg` client that is connected to the same database.',
  },
  EVENT_UNREADABLE: {
    class: 'permanent',
    retryable: false,
    meaning: 'A row of the event log is damaged.',
    advice: 'Restore it from a backup; `verify` tells which rows are affected.',
  },
  EVENT_TOO_NEW: {
    class: 'permanent',
    retryable: false,
    meaning: 'A row of the event log was written by a later release.',
    advice: 'Upgrade this process.',
  },
};

/** A failed operation. */
export class PawlError extends Error {
  override readonly name = 'PawlError';
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, { detail, cause }: { detail: string; cause?: unknown }) {
    super(`${detail}. ${ERRORS[code].advice}`, { cause });
    this.code = code;
    this.retryable = ERRORS[code].retryable;
  }
}
