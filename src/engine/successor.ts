import { PawlError } from '../errors.js';
import {
  SIGNAL_KEY,
  type ContinuedRef,
  type DlqItem,
  type Job,
  type JobSpec,
  type JsonText,
} from '../kernel/index.js';
import type { NewOutboxEntry } from '../ports/store.js';
import { signalAgain } from './child-mail.js';
import { placeOf, successorOf } from './continuing.js';
import type { Engine } from './engine.js';
import { continuationOf } from './inherited.js';
import type { NewJob } from './new-job.js';
import { expectNoneHappened } from './outside-effects.js';
import { callersPatience, sendOne } from './send.js';
import { createItem } from './start-jobs.js';

/** How a new job stands to what the old one did. Without a word there is none where effects happened, or may have. */
export type Repeating = {
  /** What is recorded stays done: the new job goes on from there. */
  readonly keepRecorded?: boolean;
  /** The new job begins from the start, and enters effects that happened once more. */
  readonly repeatEffects?: boolean;
};

/** The work of a job that has ended, as a job of its own. Either way it takes the place of that one. */
export async function newSuccessor(
  engine: Engine,
  old: Job,
  { jobId, input, ...repeating }: Repeating & { readonly jobId: string; readonly input: JsonText },
): Promise<NewJob> {
  const spec = specOf(engine, old.spec, jobId);
  const replaces = await expectAgreed(engine, old.spec.jobId, { ...repeating, newId: jobId });
  // A purge that comes before it is saved must not leave it without the job that it was made of.
  const place = { ...placeOf(old.spec), needs: old.spec.jobId };
  if (!repeating.keepRecorded) {
    return { spec, input, identities: [replaces === null ? place : { ...place, replaces }] };
  }
  const continues = await continuationOf(engine.store, old.spec.jobId);
  return {
    spec: { ...spec, continues },
    input,
    identities: [place],
    letters: await unreadSignals(engine, { from: continues, to: jobId }),
  };
}

/**
 * Throws unless a new job may take the place of the old one. Answers with the job that has it so far: one that has ended, and is not gone
 * on with. `newId`: the job that asks, which may have been saved before.
 */
export async function expectAgreed(
  engine: Engine,
  oldId: string,
  {
    keepRecorded = false,
    repeatEffects = false,
    newId = null,
  }: Repeating & { readonly newId?: string | null },
): Promise<string | null> {
  if (keepRecorded && repeatEffects) {
    throw new PawlError('INVALID_OPTION', {
      detail: 'keepRecorded and repeatEffects are both given: what is kept is not repeated',
      details: { option: 'keepRecorded' },
    });
  }
  const { found } = await engine.store.load(oldId);
  const owner = found && (await successorOf(engine, found.job.spec));
  if (owner !== null && owner === newId) return null;
  if (owner !== null && (keepRecorded || (await isInUse(engine, owner, { oldId, repeatEffects }))))
    throw continuedAlready(oldId, owner);
  if (!keepRecorded && !repeatEffects) await expectNoneHappened(engine, oldId);
  return owner;
}

/** Beside one that is still at it, each would do the same; and what goes on with a job is gone on with itself, unless all is to be repeated. */
async function isInUse(
  { store }: Engine,
  owner: string,
  { oldId, repeatEffects }: { readonly oldId: string; readonly repeatEffects: boolean },
): Promise<boolean> {
  const { found } = await store.load(owner);
  if (found === null) return false;
  const { finishedAt, spec } = found.job;
  return finishedAt === null || (!repeatEffects && spec.continues?.jobId === oldId);
}

function continuedAlready(jobId: string, continuedBy: string): PawlError {
  return new PawlError('CONTINUED_ALREADY', {
    detail: `job ${continuedBy} has taken the place of job ${jobId}`,
    details: { jobId, continuedBy },
  });
}

/** Saves a new job that takes the place of an old one. Null: the letter of that was dealt with meanwhile, or the new one is there already. */
export async function startSuccessor(
  engine: Engine,
  { spec, ...job }: NewJob,
  { actor, dlqItem = null }: { readonly actor: string; readonly dlqItem?: DlqItem | null },
): Promise<Job | null> {
  const commit = createItem(engine, { ...job, spec }, actor, { dlqItem });
  const reply = await sendOne(engine, commit, callersPatience(engine));
  if (reply.ok) {
    engine.announceMail(commit.outbox);
    if (commit.job) engine.announce(commit.job);
    return commit.job;
  }
  const oldId = job.identities[0]?.value ?? '';
  if (reply.code === 'JOB_GONE') {
    throw new PawlError('JOB_NOT_FOUND', {
      detail: `job ${oldId} was purged`,
      details: { jobId: oldId },
    });
  }
  const owner = reply.code === 'IDENTITY_TAKEN' ? (reply.owners[0] ?? null) : null;
  if (owner === null || owner === spec.jobId) return null;
  throw continuedAlready(oldId, owner);
}

/** Nobody waits for it any more, and its key was the old one's. */
function specOf(engine: Engine, spec: JobSpec, jobId: string): JobSpec {
  const now = engine.now();
  return {
    ...spec,
    jobId,
    taskId: jobId,
    attemptBase: 0,
    idempotencyKey: jobId,
    idempotencyScope: null,
    scheduledAt: now,
    deadlineAt: spec.deadlineAt === null ? null : now + (spec.deadlineAt - spec.scheduledAt),
    parent: null,
    firedBy: null,
    requeuedFrom: null,
    continues: null,
  };
}

/** What people have sent to the jobs before, and none of them has read: nobody is asked twice. */
async function unreadSignals(
  engine: Engine,
  { from, to }: { readonly from: ContinuedRef; readonly to: string },
): Promise<NewOutboxEntry[]> {
  const unread = new Map<string, JsonText>();
  for (let next: ContinuedRef | null = from; next !== null;) {
    const { jobId }: ContinuedRef = next;
    const { messages } = await engine.store.inbox(jobId);
    for (const { key, payload } of messages)
      if (SIGNAL_KEY.test(key) && !unread.has(key)) unread.set(key, payload);
    next = (await engine.store.load(jobId)).found?.job.spec.continues ?? null;
  }
  return [...unread].map(([key, payload]) => signalAgain({ jobId: to, key, payload }, engine.now()));
}
