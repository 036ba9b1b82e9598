/** The five vocabularies in which the engine is spoken to: each a pure projection of the same job. */
import { guarantees } from './guarantees.js';
import { jobs } from './jobs.js';
import { runState } from './run-state.js';
import { taskRuns } from './task-runs.js';
import { tasks } from './tasks.js';

export const CONTRACTS = { 'task-runs': taskRuns, jobs, guarantees, 'run-state': runState, tasks } as const;

export * from './contract.js';
export * from './envelope.js';
export * from './error-codes.js';
export * from './guarantees.js';
export * from './jobs.js';
export * from './log-event.js';
export * from './machine.js';
export * from './run-state.js';
export * from './run-end.js';
export * from './run-list.js';
export * from './run-patch.js';
export * from './run-state-steps.js';
export * from './snake-case.js';
export * from './task-runs.js';
export * from './tasks.js';
export * from './utc.js';
