/** How an error is to be treated by whoever sees it. */
export const ERROR_CLASSES = [
  'validation',
  'business_rule',
  'transient',
  'permanent',
  'security_sensitive',
] as const;

export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** What user code threw, or what the engine says in its place, as plain data. */
export type Failure = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly class: ErrorClass;
};

/** The codes that the engine itself gives to a failed attempt. User code may bring its own. */
export const FAILURE_CODES = [
  'TASK_EXECUTION_FAILED',
  'TASK_TIMEOUT',
  'STEP_TIMEOUT',
  'PROCESS_RESTARTED',
  'DEADLINE_EXCEEDED',
  'ABANDONED',
  'EFFECT_UNKNOWN',
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];

/** A failure that no retry can mend. */
export function permanentFailure(code: FailureCode, { message }: { message: string }): Failure {
  return { code, message, retryable: false, class: 'permanent' };
}

/** A start-to-close timeout. Another attempt may well finish in time, so it is retryable. */
export const TIMEOUT_FAILURE: Failure = {
  code: 'TASK_TIMEOUT',
  message: 'start_to_close timeout',
  retryable: true,
  class: 'transient',
};
