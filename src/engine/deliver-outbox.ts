import { PawlError } from '../errors.js';
import {
  decide,
  NO_STEPS,
  originOf,
  type ContinuedRef,
  type JobSpec,
  type ParentRef,
} from '../kernel/index.js';
import type { CommitItem, Message, OutboxEntry, OutboxOutcome } from '../ports/store.js';
import { childWaitKey, type ChildEnd, type ChildMail } from './child-mail.js';
import { continuing, lastInRow } from './continuing.js';
import type { Engine } from './engine.js';
import { give } from './give.js';
import { eachApart } from './each-apart.js';
import { prepareCommit } from './prepare-commit.js';
import { callersPatience, send } from './send.js';
import { deliverInbox } from './signal-job.js';

const PAGE = 500;
const AGAIN_MS = 1_000;
/** What cannot be delivered to a job whose log cannot be read is tried again, for when somebody has mended it. */
const MENDED_MS = 60_000;
/** A child that cannot be found for so long was purged, and needs no end any more. */
const MOST_TRIES = 100;

type Mail = { readonly entry: OutboxEntry; readonly mail: ChildMail };
type MailOf<K extends ChildMail['kind']> = Extract<ChildMail, { kind: K }>;

/**
 * Carries mail between parents and children. Each entry at least once; what it does, it does once. An entry whose bearer
 * died is taken again after `leaseMs`, the worker's own: its jobs wait no longer for each other than they do for it.
 */
export async function deliverOutbox(engine: Engine, { leaseMs }: { leaseMs: number }): Promise<boolean> {
  const { entries } = await engine.store.takeOutbox({ kind: 'child', limit: PAGE, leaseMs });
  if (entries.length === 0) return false;
  const taken: Mail[] = entries.map((entry) => ({ entry, mail: JSON.parse(entry.body) as ChildMail }));
  const of = <K extends ChildMail['kind']>(kind: K) =>
    taken.flatMap(({ mail }) => (mail.kind === kind ? [mail as MailOf<K>] : []));

  await engine.subscriptions.refreshIfStale();
  const { refused, postponed } = await startChildren(engine, await wantedStarts(engine, taken));
  const ends = [...of('child.ended'), ...refused].map(({ parentId, ...end }) => ({
    jobId: parentId,
    ...end,
  }));
  const untold = await putMessages(engine, [...ends, ...of('signal')]);
  const missing = new Set<string>();
  const unfit = await eachApart(engine, of('child.cancel'), {
    doing: 'cancelling a child',
    nameOf: ({ childId }) => childId,
    work: async ({ childId }) => (await cancelChild(engine, childId)) || missing.add(childId),
  });
  const unfitIds = new Set([...untold, ...unfit.map(({ childId }) => childId)]);
  const outcomes = taken.map(({ entry: { entryId, tries }, mail }): OutboxOutcome => {
    const to = recipientOf(mail);
    if (mail.kind === 'child.start' && postponed.has(mail.spec.jobId))
      return { entryId, outcome: 'again', dueAt: engine.now() + AGAIN_MS };
    if (unfitIds.has(to)) return { entryId, outcome: 'again', dueAt: engine.now() + MENDED_MS };
    if (missing.has(to) && tries < MOST_TRIES)
      return { entryId, outcome: 'again', dueAt: engine.now() + AGAIN_MS };
    return { entryId, outcome: 'done' };
  });
  await engine.store.settleOutbox(outcomes);
  return entries.length === PAGE;
}

/** Whom a letter is for. */
function recipientOf(mail: ChildMail): string {
  switch (mail.kind) {
    case 'child.start':
      // Its parent is told if it cannot be started.
      return mail.spec.parent?.jobId ?? '';
    case 'child.cancel':
      return mail.childId;
    case 'child.ended':
      return mail.parentId;
    case 'signal':
      return mail.jobId;
  }
}

/**
 * The children that are to be started. One whose bearer died with it may come after its parent has ended, and after those who looked for
 * it, to end it, have given up: so one that comes again is asked about.
 */
async function wantedStarts(engine: Engine, taken: readonly Mail[]): Promise<MailOf<'child.start'>[]> {
  const starts = await Promise.all(
    taken.map(async ({ entry, mail }) => {
      if (mail.kind !== 'child.start') return [];
      if (entry.tries === 1 || mail.spec.parent === null) return [mail];
      return (await hasEnded(engine, mail.spec.parent.jobId)) ? [] : [mail];
    }),
  );
  return starts.flat();
}

/** Or was purged since. Of one that cannot be read nobody knows that it has. */
async function hasEnded({ store }: Engine, jobId: string): Promise<boolean> {
  try {
    const { found } = await store.load(jobId);
    return found === null || found.job.finishedAt !== null;
  } catch (error) {
    if (error instanceof PawlError) throw error;
    return false;
  }
}

type Started = {
  /** Word to the parents of those that can no longer be started. */
  readonly refused: MailOf<'child.ended'>[];
  /** Those that go on with a job which somebody else goes on with just now: it is waited for. */
  readonly postponed: ReadonlySet<string>;
};

/**
 * One that can no longer be started is, for example, past its deadline. One that was started before, by a bearer that did not get to say
 * so, tells of its end itself.
 */
async function startChildren(engine: Engine, starts: readonly MailOf<'child.start'>[]): Promise<Started> {
  const items: CommitItem[] = [];
  const refused: MailOf<'child.ended'>[] = [];
  const postponed = new Set<string>();
  const { ready, waiting } = await readyStarts(engine, starts);
  for (const jobId of waiting) postponed.add(jobId);
  for (const { spec, input } of ready) {
    const create = { type: 'create', now: engine.now(), actor: 'client', spec, input } as const;
    const decision = decide(null, create, NO_STEPS);
    if (decision.ok) {
      // The same name each time: a child that was started before its bearer died is not started twice.
      const commandId = `${spec.jobId}:start`;
      const { events } = decision;
      const outbox = engine.subscriptions.lettersFor(spec, { rev: 1, events });
      const extras = { outbox, identities: continuing(spec) };
      items.push(prepareCommit(null, { jobId: spec.jobId, commandId, events }, extras));
    } else if (spec.parent !== null && (await engine.store.load(spec.jobId)).found === null) {
      // The child that another bearer starts all the same, by a clock that stood still, ends like this too.
      const isTooLate = spec.deadlineAt !== null && spec.deadlineAt <= create.now;
      refused.push(notStarted(spec.parent, isTooLate ? 'DEADLINE_EXCEEDED' : decision.code));
    }
  }
  if (items.length === 0) return { refused, postponed };
  const { told, replies } = await send(engine, items, callersPatience(engine));
  for (const [index, { job, jobId, outbox }] of items.entries()) {
    const reply = replies[index];
    const isTaken = reply?.ok === false && reply.code === 'IDENTITY_TAKEN' && !reply.owners.includes(jobId);
    if (isTaken) postponed.add(jobId);
    engine.announceMail(outbox);
    if (job) engine.announce(job, { told });
  }
  return { refused, postponed };
}

type Ready = { readonly ready: readonly MailOf<'child.start'>[]; readonly waiting: readonly string[] };

/** Without those that go on with a job which has not ended yet; or which cannot be read, until somebody has mended it. */
async function readyStarts(engine: Engine, starts: readonly MailOf<'child.start'>[]): Promise<Ready> {
  if (starts.every(({ spec }) => spec.continues === null)) return { ready: starts, waiting: [] };
  const latest = new Map<string, JobSpec>();
  await eachApart(engine, starts, {
    doing: 'reading what a child goes on with',
    nameOf: ({ spec }) => spec.continues?.jobId ?? spec.jobId,
    async work({ spec }) {
      const known = spec.continues === null ? spec : await withLatest(engine, spec, spec.continues);
      if (known !== null) latest.set(spec.jobId, known);
    },
  });
  return {
    ready: starts.flatMap((start) => {
      const spec = latest.get(start.spec.jobId);
      return spec === undefined ? [] : [{ ...start, spec }];
    }),
    waiting: starts.map(({ spec }) => spec.jobId).filter((jobId) => !latest.has(jobId)),
  };
}

/** Somebody may have requeued the job that a child was to go on with: then it goes on with that one. Null until it has ended. */
async function withLatest(engine: Engine, spec: JobSpec, { jobId }: ContinuedRef): Promise<JobSpec | null> {
  // As its parent is, after a restore: nobody knows any more what that one had done.
  if (spec.parent !== null && (await engine.store.heldFor(spec.parent.jobId)).hold !== null) return null;
  const last = await lastInRow(engine, jobId, { except: spec.jobId });
  // Of one that is gone, whoever goes on with it has to tell.
  if (last === null) return spec;
  if (last.finishedAt === null) return null;
  return { ...spec, continues: { jobId: last.spec.jobId, origin: originOf(last.spec) } };
}

/** What a parent is told of a child that cannot be started. */
function notStarted(parent: ParentRef, code: string): MailOf<'child.ended'> {
  const message = 'the child could not be started';
  const end: ChildEnd = { status: 'failed', code, message, notStarted: true };
  const payload = JSON.stringify(end);
  return { kind: 'child.ended', parentId: parent.jobId, key: childWaitKey(parent), payload };
}

/**
 * Everything is written down first, so that a parent that wakes finds all of its children's ends at once. Answers with the jobs that
 * could not be told.
 */
function putMessages(engine: Engine, messages: readonly Omit<Message, 'receivedAt'>[]): Promise<string[]> {
  const written = Promise.all(
    messages.map(({ jobId, key, payload }) => engine.store.putMessage({ jobId, key, payload })),
  );
  return written.then(() =>
    eachApart(engine, [...new Set(messages.map(({ jobId }) => jobId))], {
      doing: 'telling a job of its messages',
      nameOf: (jobId) => jobId,
      work: (jobId) => deliverInbox(engine, jobId),
    }),
  );
}

/** False while there is no such child: its start may still be on its way. */
async function cancelChild(engine: Engine, childId: string): Promise<boolean> {
  const given = await give(engine, childId, ({ job }) => {
    if (job.finishedAt !== null) return null;
    return {
      command: { type: 'cancel', now: engine.now(), actor: 'client', reason: 'the parent has ended' },
    };
  });
  return given.ok || given.code !== 'JOB_NOT_FOUND';
}
