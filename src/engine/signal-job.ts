import { decide, decidedEntry, holderLane, NO_STEPS, type Job, type JsonText } from '../kernel/index.js';
import { noteRefusal } from './alerts/transition-refused.js';
import type { Engine } from './engine.js';
import type { Message } from '../ports/store.js';
import { give, type Asked } from './give.js';
import { readSteps } from './read-log.js';
import { rejectionError } from './rejection-error.js';

/** `kept`: written down, for whenever the job asks for it. `repeated`: this key was written down before. */
export type SignalAnswer = 'delivered' | 'kept' | 'repeated';

/** Writes a signal down, then lets the job have it. The second part may get lost with this process: a sweep does it. */
export async function signalJob(
  engine: Engine,
  {
    jobId,
    key,
    payload,
    tenantId,
  }: { jobId: string; key: string; payload: JsonText; tenantId: string | null },
): Promise<SignalAnswer> {
  const asked = `signal job ${jobId}`;
  const { found } = await engine.store.load(jobId);
  if (found === null || (tenantId !== null && found.job.spec.tenantId !== tenantId)) {
    throw rejectionError({ ok: false, code: 'JOB_NOT_FOUND', details: { jobId } }, asked);
  }
  const command = { type: 'signal', now: engine.now(), actor: 'client', key, payload } as const;
  const decision = decide(found.job, { ...command, received: false }, NO_STEPS);
  if (!decision.ok) {
    if (decision.code === 'INVALID_TRANSITION') {
      if (await hasReceived(engine, jobId, key)) return 'repeated';
      await noteRefusal(engine, { ...found.job.spec, asked });
    }
    throw rejectionError(decision, asked);
  }
  engine.refusals.accepted(found.job.spec.tenantId);
  const { outcome } = await engine.store.putMessage({ jobId, key, payload });
  if (outcome === 'repeated') return 'repeated';
  const given = await give(engine, jobId, ({ job }) => deliver(engine, job, [{ key, payload }]), {
    known: found,
  });
  if (given.ok && given.changed) return 'delivered';
  // It waited for this a moment ago: a sweep that saw the message first may have delivered it.
  const wasAwaited = found.job.waits.some((wait) => wait.key === key && !decidedEntry(wait));
  return wasAwaited && (await wasDelivered(engine, jobId, key)) ? 'delivered' : 'kept';
}

/**
 * Completes a wait of a waiting job with a message from its inbox; false if there is none that it waits for. A job that
 * runs reads its inbox itself: its holder is told that there is something new.
 */
export async function deliverInbox(engine: Engine, jobId: string): Promise<boolean> {
  const { messages } = await engine.store.inbox(jobId);
  if (messages.length === 0) return false;
  const given = await give(engine, jobId, ({ job }) => deliver(engine, job, messages));
  return given.ok && given.changed;
}

/** One of the messages that the job waits for, if it waits for one. */
function deliver(
  engine: Engine,
  job: Job,
  messages: readonly Pick<Message, 'key' | 'payload'>[],
): Asked | null {
  if (job.status === 'running') engine.store.wake([holderLane(job)]);
  if (job.status !== 'waiting') return null;
  const open = new Set(job.waits.filter((wait) => !decidedEntry(wait)).map((wait) => wait.key));
  const message = messages.find(({ key }) => open.has(key));
  if (message === undefined) return null;
  const { key, payload } = message;
  return {
    command: { type: 'complete-wait', now: engine.now(), actor: 'client', key, payload },
    extras: { consumed: [key] },
  };
}

async function hasReceived(engine: Engine, jobId: string, key: string): Promise<boolean> {
  const { messages } = await engine.store.inbox(jobId);
  return messages.some((message) => message.key === key) || wasDelivered(engine, jobId, key);
}

async function wasDelivered({ store }: Engine, jobId: string, key: string): Promise<boolean> {
  return (await readSteps(store, jobId)).waitFor(key)?.outcome === 'received';
}
