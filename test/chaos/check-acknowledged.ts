import type { Store } from '../../src/ports/store.js';
import type { Verdict } from '../../src/sim/verdict.js';
import type { Acknowledged } from './load.js';
import type { ReadJobs } from './read-jobs.js';

/** All that clients were told is so, and stays so. */
export async function checkAcknowledged(
  { starts, signals, cancels, requeues, breaches }: Acknowledged,
  { store, jobs, verdict }: { store: Store; jobs: ReadJobs; verdict: Verdict },
): Promise<void> {
  for (const { invariant, problem } of breaches) verdict.breach(invariant, problem);
  for (const [key, { jobId, task, input }] of starts) {
    const job = jobs.jobOf(jobId);
    verdict.expect(job !== null, 1, () => `start ${key} was acknowledged as ${jobId}, which does not exist`);
    if (job === null) continue;
    const { idempotencyKey, task: stored } = job.spec;
    verdict.expect(
      idempotencyKey === key && stored === task && job.input === input,
      10,
      () => `${key} was answered with ${jobId}, which asks for something else`,
    );
  }
  for (const { jobId, key, payload } of signals) {
    const wait = jobs.jobs.get(jobId)?.steps.waitFor(key);
    const isTaken = wait?.outcome === 'received' && wait.payload === payload;
    // One that came before its wait, or after the job was cancelled, stays where it was put.
    const { messages } = isTaken ? { messages: [] } : await store.inbox(jobId);
    const isKept = messages.some((message) => message.key === key && message.payload === payload);
    verdict.expect(isTaken || isKept, 1, () => `signal ${key} of ${jobId} was acknowledged, and is gone`);
  }
  for (const jobId of cancels) {
    const status = jobs.jobOf(jobId)?.status;
    verdict.expect(status === 'cancelled', 1, () => `${jobId} was said to be cancelled, and is ${status}`);
  }
  for (const [dlqId, jobId] of requeues) {
    const { item } = await store.dlqItem(dlqId);
    verdict.expect(
      item?.requeuedAs === jobId && jobs.jobOf(jobId)?.spec.requeuedFrom === dlqId,
      1,
      () => `${dlqId} was said to be requeued as ${jobId}; it says ${item?.requeuedAs}`,
    );
  }
}
