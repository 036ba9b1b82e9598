import { PawlError } from '../errors.js';
import {
  decide,
  judgeJobStart,
  laneOf,
  must,
  NO_STEPS,
  type Command,
  type ConflictField,
  type Event,
  type Job,
} from '../kernel/index.js';
import type { CommitItem, CommitReply, Identity } from '../ports/store.js';
import type { Engine } from './engine.js';
import type { NewJob } from './new-job.js';
import { prepareCommit, type Extras } from './prepare-commit.js';
import { rejectionError } from './rejection-error.js';
import { patience, send } from './send.js';

export type Started = { readonly job: Job; readonly idempotentHit: boolean };

/** What became of one start. Only `created` has changed anything. */
export type StartOutcome =
  | { readonly kind: 'created' | 'hit'; readonly job: Job }
  | { readonly kind: 'duplicate'; readonly job: Job; readonly conflictFields: readonly ConflictField[] }
  /** Another run of the same task is still live. */
  | { readonly kind: 'active'; readonly job: Job }
  | { readonly kind: 'exists'; readonly jobId: string }
  /** The key's job is gone, and nobody can tell whether it asked for the same. */
  | { readonly kind: 'purged'; readonly jobId: string };

/**
 * Starts jobs. Each is created, or found to exist already by its key; one that conflicts with an existing job throws, after
 * the others have been saved.
 */
export function startJobs(
  engine: Engine,
  jobs: readonly NewJob[],
  options: { tx?: unknown; actor?: string } = {},
): Promise<Started[]> {
  return tryStartJobs(engine, jobs, options).then((outcomes) =>
    outcomes.map((outcome, index) => startedOr(outcome, jobs[index] as NewJob)),
  );
}

/** The same, with an outcome for each. */
export async function tryStartJobs(
  engine: Engine,
  jobs: readonly NewJob[],
  { tx, actor = 'client' }: { tx?: unknown; actor?: string } = {},
): Promise<StartOutcome[]> {
  if (engine.subscriptions.isStale) await engine.subscriptions.refresh();
  // All of them before the first is sent: a list that has a bad one leaves nothing behind.
  const decided = jobs.map((job) => decideCreate(engine, job, actor));
  const { items, replies } =
    tx === undefined ? await sendAll(engine, decided) : await sendWithin(engine, decided, tx);

  const outcomes: StartOutcome[] = [];
  const lanes = new Set<string>();
  for (const [index, item] of items.entries()) {
    const reply = replies[index];
    const asked = jobs[index];
    if (asked === undefined || reply === undefined || item.job === null) continue;
    if (reply.ok) {
      outcomes.push({ kind: 'created', job: item.job });
      engine.announceMail(item.outbox);
      if (item.job.status === 'queued') lanes.add(laneOf(item.job.spec));
      else engine.announce(item.job);
    } else {
      outcomes.push(await existing(engine, asked, reply));
    }
  }
  if (lanes.size > 0) {
    engine.bells.claims.ring();
    engine.store.wake([...lanes]);
  }
  return outcomes;
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
  const { spec, identities } = job;
  return prepareCommit(
    null,
    { jobId: spec.jobId, commandId: engine.nextCommandId(), events, commands: [command] },
    { identities, outbox: engine.subscriptions.lettersFor(spec, { rev: 1, events }), ...extras },
  );
}

type Sent = { readonly items: readonly CommitItem[]; readonly replies: readonly CommitReply[] };

/** Of many jobs so many are made into commits at a time: a store saves the first while the next are made. */
const AT_ONCE = 500;
/** So many parts are under way: as many as a store saves abreast, and one to go on with. More would only fill its queue. */
const MOST_UNDER_WAY = 3;

function sendAll(engine: Engine, decided: readonly Decided[]): Promise<Sent> {
  if (decided.length === 0 || decided.length > AT_ONCE) return sendInParts(engine, decided);
  const items = decided.map((one) => itemOf(engine, one));
  return send(engine, items, { goOn: patience(engine) }).then((replies) => ({ items, replies }));
}

async function sendInParts(engine: Engine, decided: readonly Decided[]): Promise<Sent> {
  const items: CommitItem[] = [];
  const sent: Promise<readonly CommitReply[]>[] = [];
  for (let from = 0; from < decided.length; from += AT_ONCE) {
    if (from > 0) await new Promise<void>((resolve) => void setImmediate(resolve));
    await sent.at(-MOST_UNDER_WAY);
    const part = decided.slice(from, from + AT_ONCE).map((one) => itemOf(engine, one));
    items.push(...part);
    const replies = send(engine, part, { goOn: patience(engine) });
    // Reported when it is waited for.
    replies.catch(() => undefined);
    sent.push(replies);
  }
  return { items, replies: (await Promise.all(sent)).flat() };
}

async function sendWithin(engine: Engine, decided: readonly Decided[], tx: unknown): Promise<Sent> {
  const items = decided.map((one) => itemOf(engine, one));
  return { items, replies: (await engine.store.commitWithin(tx, items)).replies };
}

/** What a start that was not saved has met. */
async function existing(
  engine: Engine,
  { spec, identities, judge, idIsOwn = false }: NewJob,
  reply: CommitReply & { ok: false },
): Promise<StartOutcome> {
  if (reply.code !== 'IDENTITY_TAKEN') {
    const { found } = idIsOwn ? await engine.store.load(spec.jobId) : { found: null };
    return found ? { kind: 'created', job: found.job } : { kind: 'exists', jobId: spec.jobId };
  }
  const jobs = new Map<Identity['kind'], Job>();
  for (const [index, { kind }] of identities.entries()) {
    const owner = reply.owners[index] ?? null;
    if (owner === null) continue;
    if (owner === spec.jobId && idIsOwn) return { kind: 'created', job: await mustLoad(engine, owner) };
    const { found } = await engine.store.load(owner);
    if (found === null) return { kind: 'purged', jobId: owner };
    jobs.set(kind, found.job);
  }
  const byKey = jobs.get('key') ?? null;
  const byTaskId = jobs.get('task_id') ?? null;
  const verdict = judge
    ? judge({ byKey, byTaskId })
    : judgeJobStart({ task: spec.task, inputHash: spec.inputHash }, { byKey: byKey ?? byTaskId });
  // Nothing was in the way but something that is of no concern here.
  if (verdict.kind === 'create') return { kind: 'exists', jobId: spec.jobId };
  return verdict;
}

async function mustLoad(engine: Engine, jobId: string): Promise<Job> {
  const { found } = await engine.store.load(jobId);
  return must(found, `job ${jobId} owns an identity`).job;
}
