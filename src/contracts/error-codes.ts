import type { ErrorCode } from '../errors.js';
import type { ContractName } from './contract.js';

/**
 * What a contract calls a refusal, where its source has a word of its own; every other goes by its engine name.
 * What a handler failed with is never translated: user code may use any code, also one of these.
 */
export const CONTRACT_CODES: Readonly<
  Partial<Record<ErrorCode, Readonly<Partial<Record<ContractName, string>>>>>
> = {
  INVALID_TRANSITION: {
    'task-runs': 'RUN_INVALID_TRANSITION',
    jobs: 'WF_STATE_TRANSITION_INVALID',
    guarantees: 'ErrInvalidTransition',
    'run-state': 'RUN_STATE_INVALID_TRANSITION',
    tasks: 'TASK_INVALID_TRANSITION',
  },
  STALE_ATTEMPT: { guarantees: 'ErrStaleAttempt' },
  DUPLICATE: { 'task-runs': 'RUN_DUPLICATE', tasks: 'TASK_DUPLICATE' },
  JOB_NOT_FOUND: { 'task-runs': 'RUN_NOT_FOUND', 'run-state': 'RUN_NOT_FOUND', tasks: 'TASK_NOT_FOUND' },
  JOB_EXISTS: { 'task-runs': 'RUN_EXISTS', 'run-state': 'RUN_EXISTS' },
};

export function errorCodeIn(contract: ContractName, code: ErrorCode): string {
  return CONTRACT_CODES[code]?.[contract] ?? code;
}
