import type { Job, JobSpec, JsonText, Timestamp, Wait } from '../kernel/index.js';
import { BUCKETS, newJobId } from '../kernel/index.js';
import type { NewOutboxEntry } from '../ports/store.js';
import { drawnFrom } from './drawn-from.js';

/** What parents and children send each other, and a job to the one that goes on with it, by way of the outbox of whoever decides it. */
export type ChildMail =
  | { readonly kind: 'child.start'; readonly spec: JobSpec; readonly input: JsonText }
  | { readonly kind: 'child.cancel'; readonly childId: string }
  | {
      readonly kind: 'child.ended';
      readonly parentId: string;
      readonly key: string;
      readonly payload: JsonText;
    }
  | { readonly kind: 'signal'; readonly jobId: string; readonly key: string; readonly payload: JsonText };

/** How a child ended, as its parent's step sees it. */
export type ChildEnd =
  | { readonly status: 'succeeded'; readonly result: JsonText }
  | {
      readonly status: 'failed';
      readonly code: string;
      readonly message: string;
      /** There is no such job. */
      readonly notStarted?: true;
    }
  | { readonly status: 'cancelled' };

export function childStart(spec: JobSpec, input: JsonText, now: Timestamp): NewOutboxEntry {
  return entry(`${spec.jobId}:start`, { kind: 'child.start', spec, input }, now);
}

export function childCancel(childId: string, now: Timestamp): NewOutboxEntry {
  return entry(`${childId}:cancel`, { kind: 'child.cancel', childId }, now);
}

/** Null for a job that nobody waits for. */
export function childEnded(job: Job, now: Timestamp): NewOutboxEntry | null {
  const { parent, jobId } = job.spec;
  if (parent === null) return null;
  const mail: ChildMail = {
    kind: 'child.ended',
    parentId: parent.jobId,
    key: childWaitKey(parent),
    payload: JSON.stringify(endOf(job)),
  };
  return entry(`${jobId}:ended`, mail, now);
}

/** A signal for the job that goes on with the one that it was sent to. */
export function signalAgain(
  signal: { readonly jobId: string; readonly key: string; readonly payload: JsonText },
  now: Timestamp,
): NewOutboxEntry {
  return entry(`${signal.jobId}:signal:${signal.key}`, { kind: 'signal', ...signal }, now);
}

export function childWaitKey({ step, occurrence }: Pick<Wait, 'step' | 'occurrence'>): string {
  return `child:${step}#${occurrence}`;
}

/** The child of a step has one id, whoever works it out: a hash, in the place and time of its parent. */
export function childIdOf(parent: Job, { step, occurrence }: Pick<Wait, 'step' | 'occurrence'>): string {
  const draw = drawnFrom(JSON.stringify([parent.spec.jobId, step, occurrence]));
  return newJobId({ now: parent.createdAt, bucket: draw(BUCKETS), draw });
}

function entry(entryId: string, mail: ChildMail, dueAt: Timestamp): NewOutboxEntry {
  return { entryId, kind: 'child', dueAt, body: JSON.stringify(mail) };
}

function endOf({ status, result, failure }: Job): ChildEnd {
  if (status === 'succeeded') return { status, result: result ?? 'null' };
  if (status === 'cancelled') return { status };
  return { status: 'failed', code: failure?.code ?? '', message: failure?.message ?? '' };
}
