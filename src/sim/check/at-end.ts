import { verifyStore } from '../../engine/evidence/verify-store.js';
import { childIdOf } from '../../engine/child-mail.js';
import { isTerminal, SIGNAL_KEY, type Job, type Status, type Step } from '../../kernel/index.js';
import type { Store } from '../../ports/store.js';
import { expectedResult } from '../workload/expected.js';
import type { WorkInput } from '../workload/program.js';
import type { Verdict } from '../verdict.js';
import type { JobWatch } from './job-watch.js';
import type { StoreWatch } from './store-watch.js';

export type EndParts = {
  readonly store: Store;
  readonly watch: StoreWatch;
  readonly verdict: Verdict;
  readonly now: number;
  readonly leaseMs: number;
};

/** What can be said only of the whole, once everything has come to rest. */
export async function checkAtEnd(parts: EndParts): Promise<void> {
  await checkEvidence(parts);
  await checkCounts(parts);
  checkChildren(parts);
  checkResults(parts);
  checkKept(parts);
  checkLeases(parts);
  checkMail(parts);
}

/** Chain, density, folds, ledgers and rows, by the same code that `pawl verify` runs. */
export async function checkEvidence({ store, verdict }: Pick<EndParts, 'store' | 'verdict'>): Promise<void> {
  const { broken } = await verifyStore(store);
  for (const { jobId, problem } of broken) verdict.breach(3, `${jobId}: ${problem}`);
}

async function checkCounts({ store, watch, verdict }: EndParts): Promise<void> {
  const there = [...watch.jobs.values()].flatMap(({ jobId, job }) =>
    job === null || watch.purged.has(jobId) ? [] : [job],
  );
  const expected: Partial<Record<Status, number>> = {};
  for (const { status } of there) expected[status] = (expected[status] ?? 0) + 1;
  const { counts } = await store.counts({ tenantId: null });
  for (const status of new Set([...Object.keys(expected), ...Object.keys(counts)]) as Set<Status>)
    verdict.expect(
      counts[status] === expected[status],
      15,
      () => `${counts[status]} jobs are counted as ${status}, not ${expected[status]}`,
    );
  const { rows } = await store.list({
    tenantId: null,
    statuses: null,
    task: null,
    limit: there.length + 1,
    cursor: null,
  });
  verdict.expect(
    rows.length === there.length,
    15,
    () => `${rows.length} jobs are listed, not ${there.length}`,
  );
  const open = [...watch.tables.dlq.values()].filter(({ status }) => status === 'open').length;
  const { tenants } = await store.dlqOpen();
  const counted = tenants.reduce((sum, { count }) => sum + count, 0);
  verdict.expect(counted === open, 15, () => `${counted} dead letters are counted as open, not ${open}`);
}

/** Jobs as their logs make them. */
export type Folded = {
  readonly jobs: ReadonlyMap<string, Pick<JobWatch, 'jobId' | 'job' | 'steps'>>;
  jobOf(jobId: string): Job | null;
};

/** Every child was started by a step of its parent, exists, and does not outlive it. */
export function checkChildren({ watch, verdict }: { watch: Folded; verdict: Verdict }): void {
  for (const { jobId, job, steps } of watch.jobs.values()) {
    if (job === null) continue;
    const { parent } = job.spec;
    const above = parent && watch.jobs.get(parent.jobId);
    if (parent) {
      const step = above?.steps.get(parent);
      const isKnown = step?.kind === 'wait' && step.child?.childId === jobId;
      verdict.expect(isKnown, 16, () => `${jobId} is a child that no step of ${parent.jobId} started`);
      const outlives = isTerminal(above?.job?.status ?? 'succeeded') && !isTerminal(job.status);
      verdict.expect(!outlives, 16, () => `${jobId} has outlived its parent ${parent.jobId}`);
    }
    for (const [key, step] of steps.entries()) {
      if (step.kind !== 'wait' || step.child === null) continue;
      verdict.expect(
        childIdOf(job, step.wait) === step.child.childId,
        16,
        () => `the child of ${jobId} ${key} has another id`,
      );
      const child = watch.jobOf(step.child.childId);
      // One whose deadline passed before its start arrived is refused, and its parent told so. A parent that has ended before
      // is told nothing, and a start that comes again after its end is let go.
      const refused = step.payload?.includes('could not be started') ?? false;
      const isOver = step.payload === null && isTerminal(job.status);
      verdict.expect(
        child !== null || isOver || (refused && step.child.task === 'mortal'),
        16,
        () => `the child of ${jobId} ${key} was never started`,
      );
      if (step.outcome !== 'received' || child === null) continue;
      const { status: told, code = null } = JSON.parse(step.payload ?? '{}') as {
        status?: string;
        code?: string;
      };
      verdict.expect(
        told === child.status,
        16,
        () => `${jobId} was told that its child is ${told}; it is ${child.status}`,
      );
      const expected = child.status === 'failed' ? (child.failure?.code ?? null) : null;
      verdict.expect(
        code === expected,
        16,
        () => `${jobId} was told that its child failed with ${code}, not ${expected}`,
      );
    }
  }
}

/** A handler saw what was recorded, each time that it ran, and so returned it. */
function checkResults({ watch, verdict }: EndParts): void {
  for (const { jobId, job, steps } of watch.jobs.values()) {
    if (job?.status === 'waiting' && isLost(job))
      verdict.breach(7, `${jobId} was parked, though its handler follows its history`);
    if (job?.status !== 'succeeded') continue;
    const record = [{ steps }, ...ancestorsOf(watch, job)];
    const expected = JSON.stringify(
      expectedResult(JSON.parse(job.input) as WorkInput, {
        get: (ref) => record.map((one) => one.steps.get(ref)).find((step) => step !== undefined),
        waitFor: (key) => record.map((one) => one.steps.waitFor(key)).find((step) => step !== undefined),
      }),
    );
    verdict.expect(
      job.result === expected,
      7,
      () => `${jobId} returned ${job.result}; its steps recorded ${expected}`,
    );
  }
}

/** What one job has recorded, those that go on with it have recorded just so. */
function checkKept({ watch, verdict }: EndParts): void {
  for (const { jobId, job, steps } of watch.jobs.values()) {
    if (job === null) continue;
    for (const before of ancestorsOf(watch, job)) {
      for (const [key, step] of steps.entries()) {
        const kept = resultOf(new Map(before.steps.entries()).get(key));
        verdict.expect(
          kept === null || [kept, null].includes(resultOf(step)),
          7,
          () => `${jobId} ${key} is ${resultOf(step)}, and was ${kept} in ${before.jobId}`,
        );
      }
    }
  }
}

/** Of a step that has one which is kept for good. */
function resultOf(step: Step | undefined): string | null {
  if (step?.kind === 'run') return step.output;
  if (step?.kind === 'effect') return step.result;
  return step?.outcome === 'received' && step.child === null && SIGNAL_KEY.test(step.wait.key)
    ? step.payload
    : null;
}

/** The jobs whose record a job goes on with, the nearest first. */
function ancestorsOf(watch: StoreWatch, job: Job): JobWatch[] {
  const before = watch.jobs.get(job.spec.continues?.jobId ?? '');
  return before?.job ? [before, ...ancestorsOf(watch, before.job)] : [];
}

export function isLost({ waits }: Job): boolean {
  return waits.some(({ reason }) => reason === 'nondeterminism');
}

function checkLeases({ watch, verdict, now, leaseMs }: EndParts): void {
  for (const [incarnation, { dead, leaseUntil }] of watch.tables.leases) {
    const isOld = !dead && leaseUntil + leaseMs < now;
    verdict.expect(
      !isOld,
      24,
      () => `the lease of ${incarnation} ran out ${now - leaseUntil} ms ago, and nobody has ended it`,
    );
  }
  for (const [jobId, { row }] of watch.tables.jobs) {
    const held = row.incarnation !== null;
    verdict.expect(!held, 24, () => `${jobId} is still held by ${row.incarnation}`);
  }
}

/** Nothing is under way between jobs; and what a wait has had is out of the inbox, and nothing else is. */
function checkMail({ watch, verdict }: EndParts): void {
  for (const { entryId, kind } of watch.tables.outbox.values())
    verdict.expect(kind !== 'child', 25, () => `${entryId} is still in the outbox`);
  for (const [jobId, { inbox }] of watch.tables.jobs) {
    const steps = watch.jobs.get(jobId)?.steps;
    for (const { key, consumed } of inbox.values()) {
      const isTaken = steps?.waitFor(key)?.outcome === 'received';
      verdict.expect(
        consumed === isTaken,
        20,
        () =>
          `${key} of ${jobId} is ${isTaken ? 'still in the inbox, though a wait has it' : 'gone from the inbox, and no wait has it'}`,
      );
    }
  }
}
