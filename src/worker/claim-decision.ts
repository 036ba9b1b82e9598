import { claimableAt, decide, NO_STEPS, type Rejected, type WorkerRef } from '../kernel/index.js';
import type { Engine } from '../engine/engine.js';
import { prepareCommit } from '../engine/prepare-commit.js';
import type { ClaimRequest, Head } from '../ports/store.js';
import { quarantine } from './quarantine.js';

export type Claiming = {
  readonly worker: WorkerRef;
  /** It runs a suspect already. */
  readonly hasSuspect: boolean;
  /** Names a claim. No name ever comes twice. */
  readonly nextAttemptId: () => string;
};

/** What a claim decides on each job that is due, wherever it is decided: beside the worker, or in front of its store. */
export function claimDecision(engine: Engine, { worker, hasSuspect, nextAttemptId }: Claiming) {
  const heads = new Map<string, Head>();
  const suspects = quarantine({ occupied: hasSuspect });
  const actor = `worker:${worker.id}`;
  let isTold = false;
  /** A job that is not to be claimed now is nothing new. That a claim is no claim at all is a mistake of ours, and as true of the next. */
  const tell = (jobId: string, { code, details }: Rejected): void => {
    if (code !== 'INVALID_COMMAND' || isTold) return;
    isTold = true;
    engine.log.error('a claim was refused', { jobId, worker: worker.id, code, details });
  };
  const decideOn: ClaimRequest['decide'] = (found, now) => {
    const attemptId = nextAttemptId();
    const { spec, rev } = found.job;
    const command = { type: 'claim', now, actor, attemptId, worker, early: false } as const;
    const decision = decide(found.job, command, NO_STEPS);
    if (!decision.ok) tell(spec.jobId, decision);
    if (!decision.ok || !suspects.admits(found.job)) return null;
    const { events } = decision;
    const outbox = engine.subscriptions.lettersFor(spec, { rev: rev + 1, events });
    const item = prepareCommit(found, { jobId: spec.jobId, commandId: attemptId, events }, { outbox });
    engine.meters.wait.observe((now - (claimableAt(found.job) ?? now)) / 1_000);
    heads.set(spec.jobId, { link: item.link, inboxRev: found.inboxRev });
    return item;
  };
  return {
    decide: decideOn,
    /** Where a job stands that was claimed. */
    headOf: (jobId: string): Head | undefined => heads.get(jobId),
    leftSuspects: suspects.left,
  };
}
