import { prepareCommit } from '../../engine/prepare-commit.js';
import { chainHash } from '../../engine/sha256.js';
import {
  changesOf,
  decide,
  decodeEvents,
  findBreaches,
  findBrokenLink,
  laneOf,
  NO_STEPS,
  type Command,
  type Commit,
} from '../../kernel/index.js';
import type { CommitItem, Identity, Loaded, Store } from '../../ports/store.js';
import { command } from '../sample-commands.js';
import { aJobSpec } from '../sample-job.js';

/** A commit that the store has acknowledged. */
export type Acknowledged = { readonly jobId: string; readonly rev: number; readonly key: string };

type Writer = {
  /** Ids of its jobs begin with it. Writers that differ only in its last letter compete for the same keys. */
  readonly prefix: string;
  readonly report: (acknowledged: readonly Acknowledged[]) => void;
};

const BATCH = 8;

/** Starts jobs, claims what is there, records a step and finishes, and reports every commit: until it is killed. */
export async function workUntilKilled(store: Store, { prefix, report }: Writer): Promise<never> {
  const worker = { id: prefix, incarnation: `${prefix}.1` };
  const rivals = prefix.slice(0, -1);
  const save = async (items: readonly CommitItem[]): Promise<void> => {
    const { replies } = await store.commit(items);
    report(items.filter((_, i) => replies[i]?.ok).map(acknowledgedOf));
  };
  for (let n = 0; ; n++) {
    await save(
      Array.from({ length: BATCH }, (_, i) => aStart(`${prefix}_job_${n}_${i}`, `${rivals}-${n}-${i}`)),
    );
    const { now } = await store.beat({ worker, leaseMs: 60_000, lanes: [] });
    const heads: Loaded[] = [];
    await store.claim({
      worker,
      lanes: [{ lane: laneOf(aJobSpec()), keyLimit: null }],
      limit: BATCH,
      afterTenant: '',
      decide: (found) => {
        const attemptId = `${prefix}/${n}/${heads.length}`;
        const item = commitOf(found, command('claim', { now, attemptId, worker }));
        heads.push(after(found, item));
        return item;
      },
    });
    report(heads.map(({ job }) => ({ jobId: job.spec.jobId, rev: job.rev, key: '' })));
    const steps = heads.map((head) =>
      commitOf(head, command('record-step', { now, attemptId: head.job.attemptId ?? '' })),
    );
    await save(steps);
    await save(
      heads.map((head, i) =>
        commitOf(
          after(head, steps[i] as CommitItem),
          command('complete', { now, attemptId: head.job.attemptId ?? '' }),
        ),
      ),
    );
  }
}

/** What is wrong with a store whose writers were killed: acknowledged commits that are gone, logs that do not hold. */
export async function findLosses(store: Store, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const losses: string[] = [];
  const owners = new Map<string, Set<string>>();
  const revs = new Map<string, number>();
  for (const { jobId, rev, key } of acknowledged) {
    revs.set(jobId, Math.max(rev, revs.get(jobId) ?? 0));
    if (key !== '') owners.set(key, (owners.get(key) ?? new Set()).add(jobId));
  }
  for (const [key, jobs] of owners) {
    if (jobs.size > 1) losses.push(`${key} belongs to ${jobs.size} jobs`);
  }
  for (const [jobId, rev] of revs) {
    const problem = await problemOf(store, jobId, rev);
    if (problem !== null) losses.push(`${jobId}: ${problem}`);
  }
  return losses;
}

async function problemOf(store: Store, jobId: string, rev: number): Promise<string | null> {
  const { rows } = await store.log(jobId, { fromRev: 1, limit: 100 });
  const { found } = await store.load(jobId);
  if (found === null || rows.length < rev)
    return `revision ${rev} was acknowledged, the log has ${rows.length}`;
  if (found.job.rev !== rows.length) return `its row stands at ${found.job.rev}, its log at ${rows.length}`;
  const broken = findBrokenLink(chainHash, rows, { rev: rows.length, link: found.link });
  if (broken) return `revision ${broken.rev} is ${broken.problem}`;
  const commits: Commit[] = [];
  for (const row of rows) {
    const decoded = decodeEvents(row.body);
    if (!decoded.ok) return decoded.problem;
    commits.push({ jobId, rev: row.rev, events: decoded.events });
  }
  const breaches = findBreaches(changesOf(commits));
  return breaches.length > 0 ? JSON.stringify(breaches) : null;
}

function aStart(jobId: string, value: string): CommitItem {
  return commitOf(null, command('create', { spec: aJobSpec({ jobId }) }), [
    { tenantId: 'acme', kind: 'key', value },
  ]);
}

function commitOf(head: Loaded | null, given: Command, identities: readonly Identity[] = []): CommitItem {
  const decision = decide(head && head.job, given, NO_STEPS);
  if (!decision.ok) throw new Error(`${given.type} was refused: ${decision.code}`);
  const jobId = head?.job.spec.jobId ?? (given.type === 'create' ? given.spec.jobId : '');
  const attemptId = given.type === 'record-step' || given.type === 'complete' ? given.attemptId : null;
  const commandId = `${jobId}/${head?.job.rev ?? 0}`;
  return prepareCommit(head, { jobId, commandId, events: decision.events }, { identities, attemptId });
}

function after(head: Loaded, { job, rev, link }: CommitItem): Loaded {
  return { job: job ?? { ...head.job, rev }, link, inboxRev: head.inboxRev };
}

function acknowledgedOf({ jobId, rev, identities }: CommitItem): Acknowledged {
  return { jobId, rev, key: identities[0]?.value ?? '' };
}
