import type { ErrorEntry } from './error-entry.js';

export type CallErrorCode =
  | 'DUPLICATE'
  | 'RUN_ACTIVE'
  | 'EFFECT_LATE_RESULT'
  | 'INVALID_INPUT'
  | 'INVALID_OPTION'
  | 'NOT_SERIALISABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'TASK_EXISTS'
  | 'TASK_UNKNOWN'
  | 'STEP_NAME_REUSED'
  | 'CHECKPOINT_MISPLACED'
  | 'JOB_FAILED'
  | 'JOB_CANCELLED'
  | 'RESULT_TIMEOUT'
  | 'CHILD_FAILED'
  | 'WORKER_ID_IN_USE'
  | 'APP_CLOSED'
  | 'TASK_INVALID_SCHEDULE'
  | 'SCHEDULE_NOT_FOUND'
  | 'CALLBACK_URL_INVALID'
  | 'SUBSCRIPTION_NOT_FOUND'
  | 'DLQ_NOT_FOUND'
  | 'DLQ_REQUEUE_CONFLICT'
  | 'EFFECTS_HAPPENED'
  | 'CONTINUED_ALREADY'
  | 'CONTINUED_JOB_GONE'
  | 'APPROVAL_REQUIRED'
  | 'CONFIG_INVALID'
  | 'WORKFLOW_INVALID'
  | 'WORKFLOW_FAILED'
  | 'FILE_UNREADABLE'
  | 'FILE_UNWRITABLE';

/** What applications and their handlers get when they call Pawl in a way that cannot work, or wait in vain. */
export const CALL_ERRORS: Readonly<Record<CallErrorCode, ErrorEntry>> = {
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
  INVALID_INPUT: {
    class: 'validation',
    retryable: false,
    meaning: 'What was given does not fit the schema of the task, or holds a number that is not finite.',
    advice: 'Correct the value at the path that is named. Nothing was stored.',
  },
  INVALID_OPTION: {
    class: 'validation',
    retryable: false,
    meaning: 'An option, a name or a duration is not one that Pawl understands.',
    advice: 'Correct the option that is named.',
  },
  NOT_SERIALISABLE: {
    class: 'validation',
    retryable: false,
    meaning:
      'A value cannot be written as JSON: it refers to itself, or holds a function, a symbol or a bigint.',
    advice: 'Pass plain data: objects, arrays, strings, numbers, booleans and null.',
  },
  PAYLOAD_TOO_LARGE: {
    class: 'validation',
    retryable: false,
    meaning: 'A value is larger, or nested deeper, than Pawl keeps.',
    advice: 'Store it elsewhere and pass a reference to it.',
  },
  TASK_EXISTS: {
    class: 'validation',
    retryable: false,
    meaning: 'Two tasks are registered under one name and version.',
    advice: 'Rename one of them, or give it a version of its own.',
  },
  TASK_UNKNOWN: {
    class: 'validation',
    retryable: false,
    meaning: 'No task of this name is registered here.',
    advice: 'Pass the task to `pawl({ tasks })`.',
  },
  STEP_NAME_REUSED: {
    class: 'validation',
    retryable: false,
    meaning: 'One step name stands for two different kinds of step.',
    advice: 'Give each step a name of its own.',
  },
  CHECKPOINT_MISPLACED: {
    class: 'validation',
    retryable: false,
    meaning: '`step.resume()` was not the first step of a handler that saves checkpoints.',
    advice:
      'Call `step.resume(initial)` before any other step, and keep in its state whatever the rest needs.',
  },
  JOB_FAILED: {
    class: 'permanent',
    retryable: false,
    meaning: 'The job ended in the dead-letter queue.',
    advice: 'See its failure, mend the cause, and requeue it.',
  },
  JOB_CANCELLED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The job was cancelled.',
    advice: 'Start another if the work is still wanted.',
  },
  RESULT_TIMEOUT: {
    class: 'transient',
    retryable: true,
    meaning: 'The job did not end within the time that the caller was ready to wait.',
    advice: 'Ask again; `why` tells what the job is waiting for.',
  },
  CHILD_FAILED: {
    class: 'permanent',
    retryable: false,
    meaning: 'A child job failed or was cancelled.',
    advice: 'See the child; catch the error where the parent can go on without it.',
  },
  WORKER_ID_IN_USE: {
    class: 'permanent',
    retryable: false,
    meaning: 'Another process has started with the same worker id.',
    advice: 'Give every worker process an id of its own, or none.',
  },
  APP_CLOSED: {
    class: 'validation',
    retryable: false,
    meaning: 'The application was closed.',
    advice: 'Open it anew with `pawl()`.',
  },
  TASK_INVALID_SCHEDULE: {
    class: 'validation',
    retryable: false,
    meaning: 'A schedule cannot be understood.',
    advice: 'Correct the field that is named.',
  },
  SCHEDULE_NOT_FOUND: {
    class: 'validation',
    retryable: false,
    meaning: 'There is no schedule with this id, or it belongs to another tenant.',
    advice: 'Check the id and the credentials.',
  },
  DLQ_NOT_FOUND: {
    class: 'validation',
    retryable: false,
    meaning: 'There is no dead letter with this id, or it belongs to another tenant.',
    advice: 'Check the id and the credentials.',
  },
  DLQ_REQUEUE_CONFLICT: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The dead letter was requeued or discarded before.',
    advice: 'Look at it again: somebody else has dealt with it.',
  },
  EFFECTS_HAPPENED: {
    class: 'business_rule',
    retryable: false,
    meaning: 'The job has effects that happened, or may have. A new job in its place would enter them again.',
    advice:
      'To go on where the job was, with all that is recorded, ask with `keepRecorded` (`--keep-recorded`). To begin from the start, undo what happened outside, or make sure that it may happen twice, and ask with `repeatEffects` (`--repeat-effects`).',
  },
  CONTINUED_ALREADY: {
    class: 'business_rule',
    retryable: false,
    meaning: 'Another job has taken the place of this one. Two would both do what is left.',
    advice: 'Look at the job that is named. If that one has failed, requeue it.',
  },
  CONTINUED_JOB_GONE: {
    class: 'permanent',
    retryable: false,
    meaning: 'The job whose record was to be kept is no longer in the store, so nobody knows what happened.',
    advice:
      'Look at what happened outside, then start the work anew. A longer retention keeps finished jobs.',
  },
  APPROVAL_REQUIRED: {
    class: 'validation',
    retryable: false,
    meaning: 'Discarding a dead letter takes two different reviewers and a reason.',
    advice: 'Let one reviewer ask for it with a reason, and another agree.',
  },
  CALLBACK_URL_INVALID: {
    class: 'validation',
    retryable: false,
    meaning: 'Callbacks cannot go to this address.',
    advice: 'Use an https address on the public internet, or allow private addresses in the configuration.',
  },
  SUBSCRIPTION_NOT_FOUND: {
    class: 'validation',
    retryable: false,
    meaning: 'There is no subscription with this id, or it belongs to another tenant.',
    advice: 'Check the id and the credentials.',
  },
  CONFIG_INVALID: {
    class: 'validation',
    retryable: false,
    meaning: 'The config file has a setting that does not exist, or a value that does not fit.',
    advice: 'Correct the field that is named; docs/cli.md lists all of them.',
  },
  WORKFLOW_INVALID: {
    class: 'validation',
    retryable: false,
    meaning: 'A workflow file cannot be run as it stands. Nothing of it was run.',
    advice: 'Correct the places that are named: file, line and column.',
  },
  WORKFLOW_FAILED: {
    class: 'permanent',
    retryable: false,
    meaning: 'A step of a workflow failed on a host, and the steps after it were not begun.',
    advice: 'See what the host said, mend it, and apply the workflow again.',
  },
  FILE_UNREADABLE: {
    class: 'validation',
    retryable: false,
    meaning: 'A config file, a file of tasks or a file of input is not there, or cannot be loaded.',
    advice: 'Check its name and that it runs by itself.',
  },
  FILE_UNWRITABLE: {
    class: 'validation',
    retryable: false,
    meaning: 'A file cannot be written where a command was told to write it.',
    advice: 'Name a place in a folder that is there, that this user may write to, and that has space left.',
  },
};
