import {
  decide,
  decidedEntry,
  holderLane,
  isWaitOver,
  NO_STEPS,
  type Job,
  type JsonText,
  type Rejected,
} from '../kernel/index.js';
import { noteRefusal } from './alerts/transition-refused.js';
import type { Engine } from './engine.js';
import type { Message } from '../ports/store.js';
import { give, type Asked } from './give.js';
import { readSteps } from './read-log.js';
import { rejectionError } from './rejection-error.js';

/** `kept`: written down, for whenever the job asks for it. `repeated`: this key was written down before. */
export type SignalAnswer = 'delivered' | 'kept' | 'repeated';

/**
 * Writes a signal down, then lets the job have it. The second part may get lost with this process: a sweep does it. One whose wait is over
 * is refused, and whoever sends it learns so even if that ended while it was being written.
 */
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
  const verdict = await judgeSignal(engine, found.job, { key, payload });
  if (!verdict.ok) {
    if (verdict.code === 'INVALID_TRANSITION') await noteRefusal(engine, { ...found.job.spec, asked });
    throw rejectionError(verdict, asked);
  }
  if (verdict.is === 'repeated') return 'repeated';
  engine.refusals.accepted(found.job.spec.tenantId);
  const { outcome } = await engine.store.putMessage({ jobId, key, payload });
  if (outcome === 'repeated') return 'repeated';
  const given = await give(engine, jobId, ({ job }) => deliver(engine, job, [{ key, payload }]), {
    known: verdict.is === 'awaited' ? found : null,
  });
  if (given.ok && given.changed) return 'delivered';
  if (given.ok && given.job.rev === found.job.rev) return 'kept';
  // Something came between: a sweep that saw the message first, the job itself, or the end of the wait.
  const steps = await readSteps(engine.store, jobId);
  if (steps.waitFor(key)?.outcome === 'received') return 'delivered';
  if (isWaitOver(key, steps))
    throw rejectionError({ ok: false, code: 'WAIT_NOT_OPEN', details: { key } }, asked);
  return 'kept';
}

/** `awaited`: the job waits for it. `early`: it may do so yet. */
type Judged = { readonly ok: true; readonly is: 'awaited' | 'early' | 'repeated' };

/** What to make of a signal. Unless the job waits for it right now, its log says what became of the key. */
export async function judgeSignal(
  { store, now }: Pick<Engine, 'store' | 'now'>,
  job: Job,
  { key, payload }: { key: string; payload: JsonText },
): Promise<Judged | Rejected> {
  const { jobId } = job.spec;
  const signal = { type: 'signal', now: now(), actor: 'client', key, payload, received: false } as const;
  const first = decide(job, signal, NO_STEPS);
  if (first.ok && first.events.length > 0) return { ok: true, is: 'awaited' };
  if (!first.ok && first.code !== 'INVALID_TRANSITION') return first;
  const steps = await readSteps(store, jobId);
  if (steps.waitFor(key)?.outcome === 'received') return { ok: true, is: 'repeated' };
  const decision = decide(job, signal, steps);
  if (decision.ok) return { ok: true, is: 'early' };
  // A job that has ended without reading it has it all the same.
  if (isWaitOver(key, steps) || decision.code !== 'INVALID_TRANSITION') return decision;
  const { messages } = await store.inbox(jobId);
  return messages.some((message) => message.key === key) ? { ok: true, is: 'repeated' } : decision;
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

/** What to ask of a waiting job that has a message which it waits for; else `otherwise`, unless a message comes before that is saved. */
export async function nextMessageOr(engine: Engine, job: Job, otherwise: Asked): Promise<Asked> {
  const { messages, inboxRev } = await engine.store.inbox(job.spec.jobId);
  return deliver(engine, job, messages) ?? { ...otherwise, extras: { ...otherwise.extras, inboxRev } };
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
