import type { JobSpec, WorkerRef } from './job.js';

/**
 * What the log leaves out, since nearly every job has it: with the rest, half of the row that is written for each of them. Whatever
 * one release left out all later ones fill in, so none of this ever changes, whatever becomes of the defaults.
 */
export const USUAL = {
  tenantId: 'default',
  attemptBase: 0,
  queue: 'default',
  priority: 0,
  scheduleType: 'at',
  retry: { maxRetries: 3, baseMs: 1_000, maxBackoffMs: 30_000, jitterMs: 300 },
  recovery: 'resume',
  maxRecoveries: 5,
} as const satisfies Partial<JobSpec>;

/** What a trace is called that nobody else has named: this, and something drawn. The log keeps the latter, as a list of one. */
export const traceOf = (jobId: string, drawn: string): string => `trace-run-${jobId}-${drawn}`;

/**
 * Whether the log need not say who runs an attempt: its worker starts it, and names it after its incarnation. That the actor is the
 * worker is looked at once for the many attempts in a row that one worker starts.
 */
export function isNamedAfter({ id, incarnation }: WorkerRef, { actor, attemptId }: Started): boolean {
  if (actor !== known.actor) known = { actor, id: idOf(actor) };
  const end = incarnation.length;
  if (id !== known.id || attemptId.charAt(end) !== '/' || !attemptId.startsWith(incarnation)) return false;
  return attemptId.indexOf('/', end + 1) < 0;
}

let known: { readonly actor: string; readonly id: string | null } = { actor: '', id: null };

/** The worker that such an attempt is named after; null if it was no worker that started it. */
export function namesake({ actor, attemptId }: Started): WorkerRef | null {
  const id = idOf(actor);
  return id === null ? null : { id, incarnation: attemptId.slice(0, attemptId.lastIndexOf('/')) };
}

type Started = { readonly actor: string; readonly attemptId: string };

const WORKER = 'worker:';

const idOf = (actor: string): string | null => (actor.startsWith(WORKER) ? actor.slice(WORKER.length) : null);
