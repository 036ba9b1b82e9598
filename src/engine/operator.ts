import {
  decidedEntry,
  holderLane,
  type Command,
  type Job,
  type JobSpec,
  type JsonText,
  type StepRef,
} from '../kernel/index.js';
import { PawlError } from '../errors.js';
import { noteRefusal } from './alerts/transition-refused.js';
import type { Engine } from './engine.js';
import { give, type Given, type Order } from './give.js';
import { invalidOption } from './options.js';
import { rejectionError } from './rejection-error.js';

/** Whose job it must be, and who says so. `tenantId` null: whoever's. */
export type Authority = { readonly tenantId: string | null; readonly actor: string };

/** Ends a job for good. A handler that runs it is aborted, and its children are cancelled with it. */
export async function cancelJob(
  engine: Engine,
  jobId: string,
  { reason, ...authority }: Authority & { readonly reason: string | null },
): Promise<Job> {
  const asked = `cancel job ${jobId}`;
  return end(engine, { ...authority, jobId, asked }, (base) => ({ type: 'cancel', ...base, reason }));
}

/** What a log takes for a reason. */
const MOST_REASON = 1_000;

/**
 * Gives up a job that is running, retrying or interrupted: it fails for good, into the dead letters, from where its work can be
 * requeued. A handler that runs it is aborted, and its children are cancelled with it.
 */
export async function abandonJob(
  engine: Engine,
  jobId: string,
  { reason, ...authority }: Authority & { readonly reason: string },
): Promise<Job> {
  if (reason.trim() === '') throw invalidOption('reason', 'the reason why a job is abandoned is blank');
  if (reason.length > MOST_REASON) {
    const found = `the reason why a job is abandoned has ${reason.length} characters`;
    throw invalidOption('reason', `${found}, which is more than ${MOST_REASON}`);
  }
  const asked = `abandon job ${jobId}`;
  return end(engine, { ...authority, jobId, asked }, (base) => ({ type: 'force-fail', ...base, reason }));
}

export type OperatorVerdict =
  | { readonly kind: 'happened'; readonly result: JsonText }
  | { readonly kind: 'notHappened' }
  | { readonly kind: 'fail' };

export type OperatorDecision = StepRef & {
  readonly jobId: string;
  /** Which entry was looked into; null: whichever its job is parked on. */
  readonly entry: number | null;
  readonly verdict: OperatorVerdict;
};

/** Decides on an effect of unknown outcome that its job is parked on. */
export async function resolveEffect(
  engine: Engine,
  { jobId, step, occurrence, entry: meant, verdict }: OperatorDecision,
  { tenantId, actor }: Authority,
): Promise<Job> {
  const asked = `decide on ${step}#${occurrence} of job ${jobId}`;
  return order(engine, { jobId, tenantId, actor, asked }, async ({ job }) => {
    const parkedOn = parkedEntry(job, { step, occurrence });
    if (parkedOn !== null && meant !== null && meant !== parkedOn) throw anotherEntry(asked, meant, parkedOn);
    const entry = parkedOn ?? meant ?? 1;
    // Each time: a result that is stored while somebody decides makes the store refuse the decision.
    const { results } = await engine.store.effects(jobId);
    const stored = results.find(
      (one) => one.step === step && one.occurrence === occurrence && one.entry === entry,
    );
    const storedResult = stored?.result ?? null;
    return {
      command: {
        type: 'resolve-effect',
        now: engine.now(),
        actor,
        step,
        occurrence,
        entry,
        storedResult,
        verdict,
      },
      needsSteps: true,
      extras: { noResultOf: storedResult === null ? { step, occurrence, entry } : null },
    };
  });
}

/** Lets a job go on that is parked because its handler no longer followed its history. */
export async function resumeParked(
  engine: Engine,
  jobId: string,
  { tenantId, actor }: Authority,
): Promise<Job> {
  return order(engine, { jobId, tenantId, actor, asked: `resume job ${jobId}` }, ({ job }) => {
    const wait = job.waits.find(({ reason }) => reason === 'nondeterminism');
    if (wait === undefined) {
      throw new PawlError('WAIT_NOT_OPEN', { detail: `job ${jobId} is ${job.status}, and not parked` });
    }
    return {
      command: { type: 'complete-wait', now: engine.now(), actor, key: wait.key, payload: null },
    };
  });
}

/** The engine's own commands lose races by their nature. Refusing one says nothing about those who call from outside. */
const OWN_ACTORS: ReadonlySet<string> = new Set(['scheduler', 'recovery']);

type Asking = Authority & { readonly jobId: string; readonly asked: string };

/** Whoever runs the job is woken, and finds that it is over. */
async function end(
  engine: Engine,
  asking: Asking,
  command: (base: { readonly now: number; readonly actor: string }) => Command,
): Promise<Job> {
  let holder: string | null = null;
  const job = await order(engine, asking, (found) => {
    holder = found.job.worker && holderLane(found.job);
    return { command: command({ now: engine.now(), actor: asking.actor }) };
  });
  if (holder !== null) engine.store.wake([holder]);
  return job;
}

async function order(engine: Engine, { jobId, tenantId, actor, asked }: Asking, what: Order): Promise<Job> {
  const notFound = () => rejectionError({ ok: false, code: 'JOB_NOT_FOUND', details: { jobId } }, asked);
  let spec: JobSpec | null = null;
  const given = await give(engine, jobId, (found) => {
    spec = found.job.spec;
    if (tenantId !== null && spec.tenantId !== tenantId) throw notFound();
    return what(found);
  });
  await noteAnswer(engine, given, { spec, actor, asked });
  if (!given.ok) throw rejectionError(given, asked);
  return given.job;
}

/** For the alert on callers who work from a state that is not the job's. */
export async function noteAnswer(
  engine: Engine,
  given: Given,
  { spec, actor, asked }: { spec: JobSpec | null; actor: string; asked: string },
): Promise<void> {
  if (spec === null || OWN_ACTORS.has(actor)) return;
  if (given.ok) engine.refusals.accepted(spec.tenantId);
  else if (given.code === 'INVALID_TRANSITION') await noteRefusal(engine, { ...spec, asked });
}

/** The entry that an operator is asked about, if one is. */
function parkedEntry(job: Job, { step, occurrence }: StepRef): number | null {
  for (const wait of job.waits) {
    const asked = decidedEntry(wait);
    if (asked?.step === step && asked.occurrence === occurrence) return asked.entry;
  }
  return null;
}

/** Somebody has decided on the one that was meant, and it was entered again: what is known of the one says nothing about the other. */
function anotherEntry(asked: string, meant: number, parkedOn: number): PawlError {
  return new PawlError('WAIT_NOT_OPEN', {
    detail: `cannot ${asked}: the job waits for a decision on entry ${parkedOn}, not on entry ${meant}`,
    details: { entry: parkedOn },
  });
}
