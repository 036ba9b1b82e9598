import { PawlError } from '../errors.js';
import {
  decide,
  laneOf,
  must,
  NO_STEPS,
  type Command,
  type ConflictField,
  type Event,
  type Job,
} from '../kernel/index.js';
import type { CommitItem, CommitReplies, CommitReply, CommitWithin } from '../ports/store.js';
import type { Engine } from './engine.js';
import { existing, knownByMadeUpNames, mayBeMadeUp, type StartOutcome } from './existing-job.js';
import type { NewJob } from './new-job.js';
import { prepareCommit, type Extras } from './prepare-commit.js';
import { rejectionError } from './rejection-error.js';
import { hearSubscribers, callersPatience, send } from './send.js';

export type { StartOutcome } from './existing-job.js';

export type Started = { readonly job: Job; readonly idempotentHit: boolean };

type Options = { readonly tx?: unknown; readonly actor?: string };

/** Jobs that differ only in what cannot be wrong: their inputs, which have been read, and what is drawn for each. */
export type Alike = { readonly count: number; readonly make: (index: number) => NewJob };

/**
 * Starts jobs. Each is created, or found to exist already by its key; one that conflicts with an existing job throws, after
 * the others have been saved.
 */
export function startJobs(
  engine: Engine,
  jobs: readonly NewJob[] | Alike,
  options: Options = {},
): Promise<Started[]> {
  return startAll(engine, jobs, options).then((tried) =>
    tried.map(({ outcome, asked }) => startedOr(outcome, asked)),
  );
}

/** The same, with an outcome for each. */
export async function tryStartJobs(
  engine: Engine,
  jobs: readonly NewJob[],
  options: Options = {},
): Promise<StartOutcome[]> {
  return (await startAll(engine, jobs, options)).map(({ outcome }) => outcome);
}

const NONE_KNOWN: ReadonlyMap<NewJob, StartOutcome> = new Map();

type Tried = { readonly asked: NewJob; readonly outcome: StartOutcome };

async function startAll(
  engine: Engine,
  jobs: readonly NewJob[] | Alike,
  { tx, actor = 'client' }: Options,
): Promise<Tried[]> {
  if (engine.subscriptions.isStale) await hearSubscribers(engine);
  const isPlain = 'make' in jobs || !jobs.some(mayBeMadeUp);
  const known = isPlain ? NONE_KNOWN : await knownByMadeUpNames(engine, jobs);
  const fresh = 'make' in jobs || known.size === 0 ? jobs : jobs.filter((job) => !known.has(job));
  const supply = 'make' in fresh ? decideInTime(engine, fresh, actor) : decideAll(engine, fresh, actor);
  const sent = tx === undefined ? await sendAll(engine, supply) : await sendWithin(engine, supply, tx);

  const tried: Tried[] = [];
  let isForClaims = false;
  const lanes = new Set<string>();
  for (const { job: asked, item, reply, told, owners } of sent) {
    if (item.job === null) continue;
    if (reply.ok) {
      tried.push({ asked, outcome: { kind: 'created', job: item.job } });
      engine.announceMail(item.outbox);
      if (item.job.status !== 'queued') engine.announce(item.job);
      else {
        isForClaims = true;
        if (!told) lanes.add(laneOf(item.job.spec));
      }
    } else {
      tried.push({ asked, outcome: await existing(engine, asked, { reply, owners }) });
    }
  }
  if (isForClaims) engine.bells.claims.ring();
  if (lanes.size > 0) engine.store.wake([...lanes]);
  return 'make' in jobs || known.size === 0 ? tried : inOrder(jobs, tried, known);
}

function inOrder(
  jobs: readonly NewJob[],
  tried: readonly Tried[],
  known: ReadonlyMap<NewJob, StartOutcome>,
): Tried[] {
  const rest = tried.values();
  return jobs.map((asked) => {
    const outcome = known.get(asked);
    return outcome ? { asked, outcome } : must(rest.next().value, 'each of the others was tried');
  });
}

/** The job that a start came to; throws where it came to none. */
export function startedOr(outcome: StartOutcome, { spec }: NewJob): Started {
  switch (outcome.kind) {
    case 'created':
    case 'hit':
      return { job: outcome.job, idempotentHit: outcome.kind === 'hit' };
    case 'exists':
      throw rejectionError(
        { ok: false, code: 'JOB_EXISTS', details: { jobId: outcome.jobId } },
        `start '${spec.task}'`,
      );
    case 'active':
      throw new PawlError('RUN_ACTIVE', {
        detail: `run ${outcome.job.spec.jobId} of task '${spec.taskId}' is ${outcome.job.status}`,
        details: { jobId: outcome.job.spec.jobId },
      });
    case 'purged':
      throw new PawlError('DUPLICATE', {
        detail: `the idempotency key '${spec.idempotencyKey}' belonged to job ${outcome.jobId}, which has been purged`,
        details: { jobId: outcome.jobId, conflictFields: [] },
      });
    case 'duplicate': {
      const { jobId } = outcome.job.spec;
      throw new PawlError('DUPLICATE', {
        detail: `the idempotency key '${spec.idempotencyKey}' belongs to job ${jobId}, which differs in ${outcome.conflictFields.map((field) => FIELD_NAMES[field] ?? field).join(', ')}`,
        details: {
          jobId,
          conflictFields: outcome.conflictFields.map((field) => FIELD_NAMES[field] ?? field),
        },
      });
    }
  }
}

/** What is compared is the hash of it. */
const FIELD_NAMES: Readonly<Partial<Record<ConflictField, string>>> = { inputHash: 'input' };

/** The commit that creates a job. */
export function createItem(engine: Engine, job: NewJob, actor: string, extras: Extras = {}): CommitItem {
  return itemOf(engine, decideCreate(engine, job, actor), extras);
}

type Decided = {
  readonly job: NewJob;
  readonly command: Command & { type: 'create' };
  readonly events: readonly Event[];
};

function decideCreate(engine: Engine, job: NewJob, actor: string): Decided {
  const { spec, input } = job;
  const command = { type: 'create', now: engine.now(), actor, spec, input } as const;
  const decision = decide(null, command, NO_STEPS);
  if (!decision.ok) throw rejectionError(decision, `start '${spec.task}'`);
  return { job, command, events: decision.events };
}

function itemOf(engine: Engine, { job, command, events }: Decided, extras: Extras = {}): CommitItem {
  const { spec, identities, letters } = job;
  const toSubscribers = engine.subscriptions.lettersFor(spec, { rev: 1, events });
  const outbox = letters === undefined ? toSubscribers : [...toSubscribers, ...letters];
  return prepareCommit(
    null,
    { jobId: spec.jobId, commandId: engine.nextCommandId(), events, commands: [command] },
    { identities, outbox, ...extras },
  );
}

/** Starts that have been decided on, or will have been when they are taken. */
type Supply = {
  readonly count: number;
  readonly take: (from: number, to: number) => readonly Decided[];
  /** How many are made into commits at a time. */
  readonly atOnce: number;
};

/** All of them before the first is sent: a list that has a bad one leaves nothing behind. */
function decideAll(engine: Engine, jobs: readonly NewJob[], actor: string): Supply {
  const decided = jobs.map((job) => decideCreate(engine, job, actor));
  return { count: jobs.length, take: (from, to) => decided.slice(from, to), atOnce: 500 };
}

/** The first speaks for all of them; a store that is elsewhere saves some while the next are made. */
function decideInTime(engine: Engine, { count, make }: Alike, actor: string): Supply {
  const first = count > 0 ? decideCreate(engine, make(0), actor) : null;
  const decided = (index: number): Decided =>
    first !== null && index === 0 ? first : decideCreate(engine, make(index), actor);
  return {
    count,
    take: (from, to) => Array.from({ length: to - from }, (_, offset) => decided(from + offset)),
    atOnce: 250,
  };
}

type Sent = {
  readonly job: NewJob;
  readonly item: CommitItem;
  readonly reply: CommitReply;
  /** Those who may run it know of it. */
  readonly told: boolean;
  /** Jobs that are known already, since only an open transaction can see them. */
  readonly owners: CommitWithin['owners'];
};

/** So many jobs go before the event loop gets its turn, in one part or in two, which a store that is in this process saves together. */
const MOST_IN_A_TURN = 500;
/** So many parts are under way: as many as a store saves abreast, and one to go on with. More would only fill its queue. */
const MOST_UNDER_WAY = 3;

function sendAll(engine: Engine, supply: Supply): Promise<Sent[]> {
  const { count, take, atOnce } = supply;
  return count > 0 && count <= atOnce ? sendPart(engine, take(0, count)) : sendInParts(engine, supply);
}

async function sendInParts(engine: Engine, { count, take, atOnce }: Supply): Promise<Sent[]> {
  const parts: Promise<Sent[]>[] = [];
  for (let from = 0; from < count; from += atOnce) {
    await parts.at(-MOST_UNDER_WAY);
    if (from > 0) await (from % MOST_IN_A_TURN === 0 ? nextTurn() : sent());
    const part = sendPart(engine, take(from, Math.min(count, from + atOnce)));
    // Reported when it is waited for.
    part.catch(() => undefined);
    parts.push(part);
  }
  return (await Promise.all(parts)).flat();
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Whatever can go out by now is on its way. */
const sent = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

function sendPart(engine: Engine, decided: readonly Decided[]): Promise<Sent[]> {
  const items = decided.map((one) => itemOf(engine, one));
  return send(engine, items, callersPatience(engine)).then((replies) => together(decided, items, replies));
}

async function sendWithin(engine: Engine, { count, take }: Supply, tx: unknown): Promise<Sent[]> {
  const decided = take(0, count);
  const items = decided.map((one) => itemOf(engine, one));
  return together(decided, items, await engine.store.commitWithin(tx, items));
}

const together = (
  decided: readonly Decided[],
  items: readonly CommitItem[],
  { replies, told, owners = [] }: CommitReplies & Partial<CommitWithin>,
): Sent[] =>
  decided.map(({ job }, index) => ({
    job,
    item: must(items[index], 'a commit for each'),
    reply: must(replies[index], 'each commit is answered'),
    told: told === true,
    owners,
  }));
