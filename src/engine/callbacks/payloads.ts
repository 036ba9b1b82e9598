import {
  guaranteeEvents,
  jobs,
  jobView,
  runCallbacks,
  runEvents,
  statusChangesOf,
  stepCallbacks,
  taskEvents,
  type ContractName,
} from '../../contracts/index.js';
import type { Change } from '../../kernel/index.js';
import type { Subscription } from './subscription-cache.js';

/** What a commit means to a subscriber: changes of steps, for whoever asked for them, before those of the run. */
export function callbacksOf(
  { contract, events }: Pick<Subscription, 'contract' | 'events'>,
  changes: readonly Change[],
  rev: number,
): readonly unknown[] {
  const steps = events.includes('step') ? stepCallbacks(changes, rev) : [];
  return events.includes('status') ? [...steps, ...payloadsOf(contract, changes, rev)] : steps;
}

/** What a commit means in a contract's own words: one payload for each of its events. */
export function payloadsOf(
  contract: ContractName,
  changes: readonly Change[],
  rev: number,
): readonly unknown[] {
  const ofCommit = changes.filter((change) => change.rev === rev);
  switch (contract) {
    case 'run-state':
      return runCallbacks(ofCommit);
    case 'task-runs':
      return runEvents(ofCommit);
    case 'tasks':
      return taskEvents(ofCommit);
    case 'guarantees':
      return guaranteeEvents(ofCommit);
    case 'jobs':
      return statusChangesOf(jobs, ofCommit).map(({ from, to, change }) => ({
        event: 'job.status.changed',
        from_status: from,
        to_status: to,
        job: jobView(change.after),
      }));
  }
}
