import { readLog, readSteps, type NamedCommit } from '../engine/read-log.js';
import type { Job, StepLog } from '../kernel/index.js';
import type { EffectResult, Store } from '../ports/store.js';
import { findProblems } from './find-problems.js';
import type { TrialJob } from './trial-job.js';
import { sightings, type Sighting } from './witness.js';

/** One job as its store has it, once all is over. */
export type Remains = {
  readonly jobId: string;
  /** Null: it is not there. */
  readonly job: Job | null;
  readonly commits: readonly NamedCommit[];
  readonly results: readonly EffectResult[];
  readonly unread: readonly string[];
  /** What is wrong with its log: chain, order, rules, row, and who wrote what. */
  readonly problems: readonly string[];
};

/** What is left of one job that was started, with its child, and what the witness saw of them. */
export type Aftermath = {
  readonly started: TrialJob;
  readonly own: Remains;
  readonly child: Remains | null;
  readonly sightings: readonly Sighting[];
};

export async function aftermathOf(store: Store, jobs: readonly TrialJob[]): Promise<Aftermath[]> {
  return Promise.all(
    jobs.map(async (started) => {
      const own = await remainsOf(store, started.handle.id);
      const childId = own.job === null ? null : childOf(await readSteps(store, own.jobId));
      const child = childId === null ? null : await remainsOf(store, childId);
      return { started, own, child, sightings: sightings(started.witness) };
    }),
  );
}

async function remainsOf(store: Store, jobId: string): Promise<Remains> {
  const { found } = await store.load(jobId);
  if (found === null) {
    return { jobId, job: null, commits: [], results: [], unread: [], problems: [`${jobId} is lost`] };
  }
  const [commits, { results }, { messages }, problems] = await Promise.all([
    readLog(store, jobId),
    store.effects(jobId),
    store.inbox(jobId),
    findProblems(store, jobId),
  ]);
  return { jobId, job: found.job, commits, results, unread: messages.map(({ key }) => key), problems };
}

function childOf(steps: StepLog): string | null {
  const call = steps.get({ step: 'ship', occurrence: 1 });
  return call?.kind === 'wait' ? (call.child?.childId ?? null) : null;
}
