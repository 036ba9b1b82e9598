import { consequencesOf } from '../../engine/consequences.js';
import type { Engine } from '../../engine/engine.js';
import { prepareCommit, type Extras } from '../../engine/prepare-commit.js';
import { rejectionError } from '../../engine/rejection-error.js';
import { PawlError } from '../../errors.js';
import {
  decide,
  evolve,
  NO_STEPS,
  StepLog,
  type CommandType,
  type Event,
  type Job,
} from '../../kernel/index.js';
import type { CommitItem, CommitRefusal, CommitReply } from '../../ports/store.js';
import { holderOf } from '../../worker/names.js';
import { nothingPast, readPast } from '../../worker/past.js';
import type { Caller } from '../route.js';
import { guardsOf } from './commit-guards.js';
import { expectTime } from './expect-time.js';
import type { HeadCache, KnownHead } from './head-cache.js';
import { expectOwnStart, type Offspring } from './new-work.js';
import { isOwn } from './own-worker.js';
import { invalid, readGiven, type Given, type HolderCommand } from './worker-commands.js';

/** A commit as a remote worker asks for it: what led to it, and what it expects to come of that. */
export type AskedCommit = {
  readonly jobId: string;
  readonly rev: number;
  readonly commandId: string;
  /** What the worker holds for the link of the commit: both must have come to the same. */
  readonly link: string;
  readonly commands: readonly unknown[];
  readonly inboxRev: number | null;
  /** Nothing but what is counted depends on it. */
  readonly takesOver: boolean;
  /** The children that its steps start. */
  readonly children: readonly Offspring[];
};

export type Desk = { readonly engine: Engine; readonly heads: HeadCache };

/** What to save, with the job as it stood before and its steps as they will be; or the answer, if there is nothing to save. */
export type Decided =
  | {
      readonly item: CommitItem;
      readonly events: readonly Event[];
      readonly before: Job | null;
      readonly after: KnownHead | null;
    }
  | { readonly reply: CommitReply };

/**
 * Decides anew what a remote worker has decided. Nothing that it sends is saved as it came: its commands are judged by the
 * kernel on the job as the store has it, with facts that the store confirms, and the commit is made of that.
 */
export async function decideAgain(desk: Desk, asked: AskedCommit, caller: Caller): Promise<Decided> {
  const { engine, heads } = desk;
  const given = readGiven(asked.commands);
  expectNamed(asked, given);
  const [first] = given.commands;
  if (first.type === 'create') {
    expectOwnStart(first, caller);
    if (first.spec.jobId !== asked.jobId) throw invalid('job_id', 'is not that of the new job');
    if (asked.rev !== 1) throw invalid('rev', 'is not that of a new job');
    // Whether there is such a job already, the store says: nothing else depends on it.
    return decideOn(engine, { asked, given, known: null, caller });
  }
  const known = heads.take(asked.jobId, asked.rev - 1) ?? (await load(engine, asked.jobId));
  if (known?.head.job.spec.tenantId !== caller.tenantId) throw notFound(asked);
  const { rev } = known.head.job;
  if (rev !== asked.rev - 1) return { reply: await formerReply(engine, asked, rev) };
  return decideOn(engine, { asked, given, known, caller });
}

type Question = {
  readonly asked: AskedCommit;
  readonly given: Given;
  readonly known: KnownHead | null;
  readonly caller: Caller;
};

async function decideOn(engine: Engine, question: Question): Promise<Decided> {
  const { asked, given, known, caller } = question;
  const head = known && known.head;
  const before = head && head.job;
  if (given.by === 'holder' && !isHolder(before, given.attemptId, caller)) return refused('ATTEMPT_GONE');
  const steps = before && given.by === 'holder' ? await stepsOf(engine, { given, known, before }) : NO_STEPS;
  const extras = await guardsOf(engine, { ...question, before, steps });
  if (extras === 'moved') return refused('RESULT_STORED');

  const actor = given.by === 'holder' ? `worker:${before?.worker?.id ?? ''}` : 'client';
  const events: Event[] = [];
  let after = before;
  for (const command of given.commands) {
    if (command.actor !== actor) throw invalid('actor', `must be ${actor}`);
    expectTime(command.now, before, engine.now());
    const decision = decide(after, command, steps);
    if (!decision.ok && decision.code === 'STALE_ATTEMPT') return refused('ATTEMPT_GONE');
    if (!decision.ok) throw rejectionError(decision, `do '${command.type}' in job ${asked.jobId}`);
    for (const event of decision.events) {
      if (steps instanceof StepLog && steps !== NO_STEPS) steps.apply(after, event);
      after = evolve(after, event);
      events.push(event);
    }
  }
  const item = await prepare(engine, { ...question, events, extras });
  const saved = item.job ?? (after && { ...after, rev: item.rev });
  const isHeld = saved?.status === 'running' && !events.some(({ type }) => type === 'checkpoint.saved');
  const next: KnownHead | null = isHeld
    ? {
        head: { job: saved, link: item.link, inboxRev: head?.inboxRev ?? 0 },
        steps: steps === NO_STEPS ? null : (steps as StepLog),
      }
    : null;
  return { item, events, before, after: next };
}

async function prepare(
  engine: Engine,
  { asked, known, given, events, extras }: Question & { events: readonly Event[]; extras: Extras },
): Promise<CommitItem> {
  if (events.length === 0) throw invalid('commands', 'come to nothing');
  const { jobId, commandId, link, takesOver } = asked;
  const head = known && known.head;
  const [first] = given.commands;
  const letters =
    first.type === 'create' ? engine.subscriptions.lettersFor(first.spec, { rev: 1, events }) : [];
  const { outbox = [], dlqItem = null } = await consequencesOf(engine, head, events);
  const item = prepareCommit(
    head,
    { jobId, commandId, events },
    { ...extras, outbox: [...(extras.outbox ?? []), ...letters, ...outbox], dlqItem, takesOver },
  );
  if (item.link === link) return item;
  throw new PawlError('COMMIT_DIFFERS', {
    detail: `revision ${item.rev} of job ${jobId} comes out otherwise than the worker has it`,
    details: { jobId },
  });
}

/** The job is held by a worker of this key. One that nobody holds is left to the kernel, which knows what to say. */
function isHolder(job: Job | null, attemptId: string, caller: Caller): boolean {
  if (job?.worker === null || job?.worker === undefined) return true;
  return job.attemptId === attemptId && isOwn(caller, job.worker);
}

/** Nothing that they decide depends on steps. */
const STEPLESS: ReadonlySet<CommandType> = new Set([
  'complete',
  'fail-attempt',
  'time-out',
  'interrupt',
  'expire-deadline',
] satisfies HolderCommand['type'][]);

/** A job that was created, and claimed, and nothing else yet. */
const FRESH_REV = 2;

async function stepsOf(
  { store }: Engine,
  { given, known, before }: { given: Given; known: KnownHead | null; before: Job },
): Promise<StepLog> {
  if (known?.steps) return known.steps;
  if (before.rev <= FRESH_REV) return nothingPast().steps;
  if (given.commands.every(({ type }) => STEPLESS.has(type))) return nothingPast().steps;
  return (await readPast(store, before, { ignoreCheckpoints: false })).steps;
}

async function load({ store }: Engine, jobId: string): Promise<KnownHead | null> {
  const { found } = await store.load(jobId);
  return found && { head: found, steps: null };
}

/** The job stands elsewhere: this commit was saved before, and gets its first answer, or something came between. */
async function formerReply({ store }: Engine, asked: AskedCommit, rev: number): Promise<CommitReply> {
  if (rev < asked.rev) return { ok: false, code: 'REV_TAKEN' };
  const { rows } = await store.log(asked.jobId, { fromRev: asked.rev, limit: 1 });
  const [row] = rows;
  const same = row?.commandId === asked.commandId && row.link === asked.link;
  return same ? { ok: true, repeated: true } : { ok: false, code: 'REV_TAKEN' };
}

/** A commit's name tells who wrote it: a worker's tells its own attempt, everybody else's tells none. */
function expectNamed({ commandId }: AskedCommit, given: Given): void {
  const named = holderOf(commandId)?.attemptId ?? null;
  const isOwnName = given.by === 'holder' && named === given.attemptId;
  const isHandBack = given.commands.length === 1 && given.commands[0].type === 'interrupt';
  if (isOwnName || (named === null && (given.by === 'client' || isHandBack))) return;
  throw invalid('command_id', 'names somebody else');
}

function refused(code: CommitRefusal): Decided {
  return { reply: { ok: false, code } };
}

function notFound({ jobId }: AskedCommit): PawlError {
  return new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${jobId}`, details: { jobId } });
}
