import { PawlError } from '../errors.js';
import {
  decide,
  decidedEntry,
  holderLane,
  isWaitOver,
  NO_STEPS,
  type ContinuedRef,
  type Job,
  type JsonText,
  type Rejected,
  type StepIndex,
} from '../kernel/index.js';
import { noteRefusal } from './alerts/transition-refused.js';
import { continuedBy } from './continuing.js';
import type { Engine } from './engine.js';
import type { Loaded, Message, Store } from '../ports/store.js';
import { give, type Asked } from './give.js';
import { readInherited } from './inherited.js';
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
  const looked = await lookAt(engine, jobId);
  if (looked === null || (tenantId !== null && looked.job.spec.tenantId !== tenantId))
    throw notFound(jobId, asked);
  const { spec } = looked.job;
  const verdict = await judgeSignal(engine, looked, { key, payload });
  if (!verdict.ok) {
    if (verdict.code === 'INVALID_TRANSITION') await noteRefusal(engine, { ...spec, asked });
    throw rejectionError(verdict, asked);
  }
  if (verdict.is === 'repeated') return 'repeated';
  engine.refusals.accepted(spec.tenantId);
  const { outcome } = await engine.store.putMessage({ jobId, key, payload });
  if (outcome === 'repeated') return 'repeated';
  const isDelivered = async (known: Loaded | null): Promise<boolean> => {
    const given = await give(engine, jobId, ({ job }) => deliver(engine, job, [{ key, payload }]), { known });
    return given.ok && given.changed;
  };
  if (verdict.is === 'awaited' && (await isDelivered(looked.found))) return 'delivered';
  // Something may have come between: a sweep that saw the message first, the job itself, or the end of the wait.
  const after = await engine.histories.read(jobId);
  if (after === null) throw notFound(jobId, asked);
  if (after.steps.waitFor(key)?.outcome === 'received') return 'delivered';
  const next = after.job.finishedAt === null ? null : await continuedBy(engine, after.job.spec);
  // It was written behind the back of the job that took over what was unread.
  if (next !== null) return signalJob(engine, { jobId: next, key, payload, tenantId });
  if (isWaitOver(key, after.steps))
    throw rejectionError({ ok: false, code: 'WAIT_NOT_OPEN', details: { key } }, asked);
  const isAwaited = deliver(engine, after.job, [{ key, payload }]) !== null;
  return isAwaited && (await isDelivered(null)) ? 'delivered' : 'kept';
}

function notFound(jobId: string, asked: string): PawlError {
  return rejectionError({ ok: false, code: 'JOB_NOT_FOUND', details: { jobId } }, asked);
}

/** A job, and its steps if they are known; `found`: as it was loaded, if it was. */
type Looked = { readonly job: Job; readonly steps: StepIndex | null; readonly found: Loaded | null };

/** One that runs is loaded with every step of its attempt: if its log was read here before, the new part of that tells the same. */
export async function lookAt(
  { store, histories }: Pick<Engine, 'store' | 'histories'>,
  jobId: string,
): Promise<Looked | null> {
  const known = await histories.remembered(jobId);
  if (known !== null) return { ...known, found: null };
  const { found } = await store.load(jobId);
  return found && { job: found.job, steps: null, found };
}

/** `awaited`: the job waits for it. `early`: it may do so yet. */
type Judged = { readonly ok: true; readonly is: 'awaited' | 'early' | 'repeated' };

/** What to make of a signal. Unless the job waits for it right now, its log says what became of the key. */
export async function judgeSignal(
  { store, histories, now }: Pick<Engine, 'store' | 'histories' | 'now'>,
  { job, steps: known }: Looked,
  { key, payload }: { key: string; payload: JsonText },
): Promise<Judged | Rejected> {
  const { jobId } = job.spec;
  const signal = { type: 'signal', now: now(), actor: 'client', key, payload, received: false } as const;
  const first = decide(job, signal, NO_STEPS);
  if (first.ok && first.events.length > 0) return { ok: true, is: 'awaited' };
  if (!first.ok && first.code !== 'INVALID_TRANSITION') return first;
  if (job.spec.continues !== null && (await wasReceivedBefore(store, job.spec.continues, key)))
    return { ok: true, is: 'repeated' };
  const steps = known ?? (await histories.read(jobId))?.steps ?? NO_STEPS;
  if (steps.waitFor(key)?.outcome === 'received') return { ok: true, is: 'repeated' };
  const decision = decide(job, signal, steps);
  if (decision.ok) return { ok: true, is: 'early' };
  // A job that has ended without reading it has it all the same.
  if (isWaitOver(key, steps) || decision.code !== 'INVALID_TRANSITION') return decision;
  const { messages } = await store.inbox(jobId);
  return messages.some((message) => message.key === key) ? { ok: true, is: 'repeated' } : decision;
}

/** By a job whose record this one keeps: it goes on with that, also if it has not come to take it over yet. */
async function wasReceivedBefore(store: Store, continues: ContinuedRef, key: string): Promise<boolean> {
  const inherited = await readInherited(store, continues).catch((error: unknown) => {
    // The job will fail of that, and its signals with it.
    if (error instanceof PawlError && error.code === 'CONTINUED_JOB_GONE') return null;
    throw error;
  });
  return (inherited?.kept() ?? []).some(({ found }) => found.kind === 'wait' && found.wait.key === key);
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
