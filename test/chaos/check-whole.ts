import { isTerminal, type Job, type Status } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import type { Verdict } from '../../src/sim/verdict.js';
import type { Work } from './chaos-tasks.js';
import { RATE, SCHEDULE } from './limits.js';
import type { ReadJobs } from './read-jobs.js';

type Parts = { readonly store: Store; readonly jobs: ReadJobs; readonly verdict: Verdict };

/** What can be said only of all jobs together. */
export async function checkWhole(parts: Parts): Promise<void> {
  checkKeys(parts);
  checkResults(parts);
  checkRate(parts);
  checkSlots(parts);
  await checkCounts(parts);
}

/** One job for each key, and for each firing. */
function checkKeys({ jobs, verdict }: Parts): void {
  const owners = new Map<string, string>();
  for (const { jobId, job } of jobs.jobs.values()) {
    if (job === null) continue;
    const { tenantId, idempotencyScope, idempotencyKey, firedBy } = job.spec;
    const names = [JSON.stringify([tenantId, idempotencyScope, idempotencyKey])];
    if (firedBy !== null) names.push(JSON.stringify([tenantId, firedBy.scheduleId, firedBy.fireAt]));
    for (const name of names) {
      const owner = owners.get(name) ?? jobId;
      verdict.expect(owner === jobId, 10, () => `${name} belongs to ${owner}, and to ${jobId} too`);
      owners.set(name, owner);
    }
  }
}

/** A handler saw what was recorded, each time that it ran: what it returns follows from its input. */
function checkResults({ jobs, verdict }: Parts): void {
  for (const { jobId, job } of jobs.jobs.values()) {
    if (job?.status === 'waiting') verdict.breach(7, `${jobId} is parked`);
    if (job?.status !== 'succeeded' || job.result === null) continue;
    const expected = expectedOf(job.spec.task, JSON.parse(job.input) as Work, job.result);
    if (expected === null) continue;
    verdict.expect(
      job.result === JSON.stringify(expected),
      7,
      () => `${jobId} (${job.spec.task}) returned ${job.result}, not ${JSON.stringify(expected)}`,
    );
  }
}

/** Null: it depends on more than the input, and is checked elsewhere. */
function expectedOf(task: string, { n, failures = 0 }: Work, result: string): unknown {
  switch (task) {
    case 'plain':
      return { n, sum: n + 1 };
    case 'nap':
    case 'keyed':
    case 'rated':
    case 'tick':
      return { n };
    case 'kid':
      return n;
    case 'flaky':
      return { n, retries: failures };
    case 'family': {
      const { kids } = JSON.parse(result) as { kids: readonly unknown[] };
      // One that its workers' deaths have used up may fail too; that it was told rightly of its children is checked elsewhere.
      const all = [n, n + 1].map((each, index) =>
        each % 5 === 0 || kids[index] === 'failed' ? 'failed' : each,
      );
      return { n, kids: all };
    }
    default:
      return null;
  }
}

function checkRate({ jobs, verdict }: Parts): void {
  const begun = [...(jobs.begun.get('rated') ?? [])].toSorted((a, b) => a - b);
  for (const [index, at] of begun.entries()) {
    const first = begun[index - RATE.limit];
    verdict.expect(
      first === undefined || at - first >= RATE.perMs,
      11,
      () => `${RATE.limit + 1} jobs of 'rated' began within ${at - (first ?? 0)} ms, at ${at}`,
    );
  }
}

/** No slot between the first firing and the last was left out. That none was fired twice is in the keys. */
function checkSlots({ jobs, verdict }: Parts): void {
  const slots = [...jobs.jobs.values()]
    .flatMap(({ job }) => (job?.spec.firedBy?.scheduleId === SCHEDULE.id ? [job.spec.firedBy.fireAt] : []))
    .toSorted((a, b) => a - b);
  for (const [index, slot] of slots.entries()) {
    const before = slots[index - 1];
    verdict.expect(
      before === undefined || slot - before === SCHEDULE.everyMs,
      9,
      () => `the schedule fired for ${before}, and next for ${slot}`,
    );
  }
}

async function checkCounts({ store, jobs, verdict }: Parts): Promise<void> {
  const all = [...jobs.jobs.values()].flatMap(({ job }): Job[] => (job === null ? [] : [job]));
  const { counts } = await store.counts({ tenantId: null });
  const expected: Partial<Record<Status, number>> = {};
  for (const { status } of all) expected[status] = (expected[status] ?? 0) + 1;
  for (const status of new Set([...Object.keys(counts), ...Object.keys(expected)]) as Set<Status>)
    verdict.expect(
      (counts[status] ?? 0) === (expected[status] ?? 0),
      15,
      () => `${counts[status]} jobs are counted as ${status}, not ${expected[status]}`,
    );
  for (const { spec, status } of all)
    verdict.expect(isTerminal(status), 25, () => `${spec.jobId} (${spec.task}) is still ${status}`);
}

/** While workers still run: nobody's lease has been over for longer than it lasts. */
export async function checkLeases({
  store,
  verdict,
  leaseMs,
}: Pick<Parts, 'store' | 'verdict'> & { leaseMs: number }): Promise<void> {
  const { workers, now } = await store.workers({ incarnations: null });
  for (const { worker, leaseUntil } of workers)
    verdict.expect(
      leaseUntil + leaseMs >= now,
      24,
      () => `the lease of ${worker.incarnation} ran out ${now - leaseUntil} ms ago, and nobody has ended it`,
    );
}
