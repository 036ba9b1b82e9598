import { rejectionError } from './rejection-error.js';
import { isTerminal, type Job } from '../kernel/index.js';
import { requeue } from './dlq.js';
import type { Engine } from './engine.js';
import { noteAnswer, type Authority } from './operator.js';
import { ownJob } from './own-job.js';
import { startSuccessor, newSuccessor, type Repeating } from './successor.js';

/**
 * The work of a job that has ended once more, as a job of its own. One that failed is requeued from the dead-letter queue,
 * while its letter is open there, so that nobody does the same again.
 */
export async function retryAsNew(
  engine: Engine,
  jobId: string,
  {
    newId,
    keepRecorded = false,
    repeatEffects = false,
    ...authority
  }: Authority & Repeating & { readonly newId: string },
): Promise<Job> {
  const job = await ownJob(engine, jobId, authority);
  if (!isTerminal(job.status)) {
    const details = { from: job.status, to: 'queued' };
    const refused = { ok: false, code: 'INVALID_TRANSITION', details } as const;
    const asked = `retry job ${jobId}`;
    await noteAnswer(engine, refused, { spec: job.spec, actor: authority.actor, asked });
    throw rejectionError(refused, asked);
  }
  const repeating = { keepRecorded, repeatEffects };
  const dlqId = job.deadLetter?.dlqId ?? null;
  if (dlqId !== null) {
    const { item } = await engine.store.dlqItem(dlqId);
    if (item?.status === 'open') return requeue(engine, dlqId, { ...authority, ...repeating, jobId: newId });
  }
  const successor = await newSuccessor(engine, job, { jobId: newId, input: job.input, ...repeating });
  const started = await startSuccessor(engine, successor, { actor: authority.actor });
  // The same request, once more.
  return started ?? ownJob(engine, newId, authority);
}
