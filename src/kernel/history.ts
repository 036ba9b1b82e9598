import type { Commit, Event } from './event.js';
import { evolve, evolveCommit } from './evolve.js';
import { InvariantViolation, must } from './invariant-violation.js';
import type { Job } from './job.js';
import { StepLog } from './step-log.js';

/** One event with the job on either side of it: what projections look at. */
export type Change = {
  readonly rev: number;
  /** Position within its commit, from 0. */
  readonly index: number;
  readonly before: Job | null;
  readonly event: Event;
  readonly after: Job;
};

/** A job, and its steps, from its whole log. The log must be dense: a gap or a fork is a bug and throws. */
export function replay(commits: readonly Commit[]): { readonly job: Job; readonly steps: StepLog } {
  const steps = new StepLog();
  let job: Job | null = null;
  for (const commit of commits) {
    expectRev(commit, job);
    let current: Job | null = job;
    for (const event of commit.events) {
      steps.apply(current, event);
      current = evolve(current, event);
    }
    job = evolveCommit(job, commit);
  }
  return { job: must(job, 'a log has at least one commit'), steps };
}

/** Every event of a log, each between the states it leads from and to. `from`: the job before the first of them. */
export function changesOf(commits: readonly Commit[], from: Job | null = null): Change[] {
  const changes: Change[] = [];
  let job: Job | null = from;
  for (const commit of commits) {
    expectRev(commit, job);
    let before: Job | null = job;
    for (const [index, event] of commit.events.entries()) {
      const after: Job = { ...evolve(before, event), rev: commit.rev };
      changes.push({ rev: commit.rev, index, before, event, after });
      before = after;
    }
    job = before;
  }
  return changes;
}

function expectRev(commit: Commit, job: Job | null): void {
  const expected = (job?.rev ?? 0) + 1;
  if (commit.rev !== expected)
    throw new InvariantViolation(`expected revision ${expected}, found ${commit.rev}`);
}
