import { attemptOf, STATUSES, type Change, type Job, type Status } from '../kernel/index.js';
import type { Machine } from './machine.js';

export const CONTRACT_NAMES = ['task-runs', 'jobs', 'guarantees', 'run-state', 'tasks'] as const;
export type ContractName = (typeof CONTRACT_NAMES)[number];

/** One source's view of the engine: its states, and how a job looks in them. */
export type Contract<S extends string> = {
  readonly name: ContractName;
  /** Its HTTP resource. */
  readonly resource: string;
  readonly machine: Machine<S>;
  project(job: Job): S;
  /** The engine's states that a job may be in while it shows as this one. */
  statusesOf(state: S): readonly Status[];
};

/** By the table of a contract, and what it says beyond it. */
export function statusesShownAs<S extends string>(
  table: Readonly<Record<Status, S>>,
  state: S,
  also?: Readonly<Partial<Record<S, readonly Status[]>>>,
): readonly Status[] {
  return STATUSES.filter((status) => table[status] === state || (also?.[state]?.includes(status) ?? false));
}

export type StatusChange<S extends string> = {
  readonly from: S | null;
  readonly to: S;
  readonly change: Change;
};

/** The changes that a contract sees: those that move its own state. */
export function statusChangesOf<S extends string>(
  contract: Contract<S>,
  changes: readonly Change[],
): StatusChange<S>[] {
  return changes.flatMap((change) => {
    const from = change.before && contract.project(change.before);
    const to = contract.project(change.after);
    return from === to ? [] : [{ from, to, change }];
  });
}

/** The attempt that an event speaks of: when leaving `running` the one that ended, otherwise the current one. */
export function attemptShown({ before, after }: Change): number {
  return attemptOf(before?.status === 'running' ? before : after);
}

/** The identity of an event in every contract: its place in the log. */
export function eventIdOf({ rev, index, after }: Change): string {
  return `evt_${after.spec.jobId}_${rev}_${index}`;
}
