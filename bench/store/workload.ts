import { prepareCommit } from '../../src/engine/prepare-commit.js';
import {
  decide,
  laneOf,
  newJobId,
  NO_STEPS,
  type Command,
  type Job,
  type JobSpec,
} from '../../src/kernel/index.js';
import type { CommitItem, Loaded, Store } from '../../src/ports/store.js';
import { aJobSpec, command, prng } from '../../src/testkit/index.js';
import { secondsOf } from '../harness/statistics.js';
import { batchesOf } from '../raw/raw-database.js';

export const BATCH = 1_000;
export const worker = { id: 'w', incarnation: 'w.1' };
const actor = 'worker:w';
export const lane: { lane: string; keyLimit: number | null } = { lane: laneOf(aJobSpec()), keyLimit: null };
export const clock = {
  now: () => Date.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

const random = prng(1);

function commitOf(head: Loaded | null, jobId: string, given: Command): CommitItem {
  const decision = decide(head && head.job, given, NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  const attemptId = 'attemptId' in given && given.type !== 'claim' ? given.attemptId : null;
  const commandId = `${jobId}/${head?.job.rev ?? 0}`;
  return prepareCommit(head, { jobId, commandId, events: decision.events }, { attemptId });
}

export function creates(count: number, spec: Partial<JobSpec> = {}): CommitItem[] {
  return Array.from({ length: count }, () => {
    const now = Date.now();
    const jobId = newJobId({ now, bucket: random.int(1024), draw: (below) => random.int(below) });
    const wanted = aJobSpec({ scheduledAt: now, ...spec, jobId });
    return commitOf(
      null,
      jobId,
      command('create', { now, spec: wanted, input: '{"order":1001,"cents":4200}' }),
    );
  });
}

export async function createAll(store: Store, items: readonly CommitItem[]): Promise<void> {
  for (const batch of batchesOf(items, BATCH)) {
    const { replies } = await store.commit(batch);
    if (replies.some(({ ok }) => !ok)) throw new Error('a job was not created');
  }
}

let claims = 0;

/** Claims up to `limit` jobs. Answers with what it takes to finish them. */
export async function claimSome(store: Store, limit: number): Promise<Loaded[]> {
  const heads: Loaded[] = [];
  await store.claim({
    worker,
    lanes: [lane],
    limit,
    afterTenant: '',
    decide: (found, now) => {
      claims += 1;
      const given = { type: 'claim', now, actor, attemptId: `w/${claims}`, worker, early: false } as const;
      const item = commitOf(found, found.job.spec.jobId, given);
      if (item.job) heads.push({ job: item.job, link: item.link, inboxRev: found.inboxRev });
      return item;
    },
  });
  return heads;
}

/** What the kernel makes of jobs that end: commits for the store. */
export function endsOf(heads: readonly Loaded[]): CommitItem[] {
  const now = Date.now();
  return heads.map((head) => {
    const { spec, attemptId }: Job = head.job;
    const given = {
      type: 'complete',
      now,
      actor,
      attemptId: attemptId ?? '',
      result: '{"ok":true}',
    } as const;
    return commitOf(head, spec.jobId, given);
  });
}

export async function finish(store: Store, ends: readonly CommitItem[]): Promise<void> {
  const { replies } = await store.commit(ends);
  if (replies.some(({ ok }) => !ok)) throw new Error('a job was not finished');
}

/** Jobs per second: by the store's own time, and with the time that the kernel takes in between to end them. */
export type Drained = { readonly byStore: number; readonly inAll: number };

/**
 * Claims and completes jobs, batch by batch. What the kernel decides on claims runs within the store's transaction, and
 * counts as the store's; commits are made before they are handed over, as those that create jobs are.
 */
export async function claimAndComplete(store: Store, jobs: number): Promise<Drained> {
  let [byStore, inAll] = [0, 0];
  for (let finished = 0; finished < jobs;) {
    let heads: readonly Loaded[] = [];
    byStore += await secondsOf(async () => {
      heads = await claimSome(store, BATCH);
    });
    if (heads.length === 0) throw new Error('nothing to claim');
    let ends: readonly CommitItem[] = [];
    inAll += await secondsOf(() => {
      ends = endsOf(heads);
    });
    byStore += await secondsOf(() => finish(store, ends));
    finished += heads.length;
  }
  inAll += byStore;
  return { byStore: jobs / byStore, inAll: jobs / inAll };
}

/** Claims and finishes what another store has created, so that nothing of it is remembered. Per second. */
export async function drainReopened(jobs: number, open: () => Promise<Store>): Promise<number> {
  const creator = await open();
  await createAll(creator, creates(jobs));
  await creator.close();
  const store = await open();
  await store.beat({ worker, leaseMs: 600_000, lanes: [] });
  const { byStore } = await claimAndComplete(store, jobs);
  await store.close();
  return byStore;
}
