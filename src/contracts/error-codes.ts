import type { ErrorCode } from '../errors.js';
import type { ContractName } from './contract.js';

/**
 * What a contract calls an error, where its source has a word of its own. Everything not named here, a code that
 * user code brought along included, goes by its engine name.
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

export function errorCodeIn(contract: ContractName, code: string): string {
  return CONTRACT_CODES[code as ErrorCode]?.[contract] ?? code;
}
