import { PawlError } from '../errors.js';
import {
  originOf,
  stepKey,
  type Checkpoint,
  type ContinuedRef,
  type EffectStep,
  type Event,
  type Job,
  type Step,
  type StepLog,
  type StepRef,
  type Timestamp,
  type WaitStep,
} from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import type { ChildEnd } from './child-mail.js';
import { lastInRow } from './continuing.js';
import type { Engine } from './engine.js';
import { haveHappened } from './outside-effects.js';
import { eventsIn, foldSteps, readLog } from './read-log.js';

type Ancestor = { readonly jobId: string; readonly events: readonly Event[]; readonly steps: StepLog };

/** An effect as an earlier job has it. */
export type InheritedEffect = { readonly jobId: string; readonly effect: EffectStep };

/** A result that is kept, with the step as it was then. */
export type KeptResult = StepRef & { readonly found: Step };

/**
 * What the jobs before have recorded, for one that goes on with it. The nearest of them is asked first. What has failed, or timed out, is
 * not kept: to try it again is what the job is for.
 */
export class Inherited {
  readonly #ancestors: readonly Ancestor[];

  constructor(ancestors: readonly Ancestor[]) {
    this.#ancestors = ancestors;
  }

  /** The results since the latest checkpoint, in the order in which they were recorded. */
  kept(): KeptResult[] {
    const kept = new Map<string, KeptResult>();
    for (const { events, steps } of this.#ancestors.toReversed()) {
      for (const event of events) {
        if (event.type === 'checkpoint.saved') kept.clear();
        const ref = keptBy(event);
        const found = ref && steps.get(ref);
        if (ref && found && !kept.has(stepKey(ref))) kept.set(stepKey(ref), { ...ref, found });
      }
    }
    return [...kept.values()];
  }

  /** The latest entry of an effect in each of them, whatever became of it. */
  entries(ref: StepRef): InheritedEffect[] {
    return this.#ancestors.flatMap(({ jobId, steps }) => {
      const effect = steps.get(ref);
      return effect?.kind === 'effect' ? [{ jobId, effect }] : [];
    });
  }

  /** When a sleep ends that has begun. */
  sleepsUntil(ref: StepRef): Timestamp | null {
    return this.#firstWait(ref, ({ wait }) => (wait.kind === 'timer' ? wait.expiresAt : null));
  }

  /** The child of a step that ended well; or else the latest that there was. */
  child(ref: StepRef): WaitStep['child'] {
    const well = this.#firstWait(ref, (step) => (isKept(step) ? step.child : null));
    return well ?? this.#firstWait(ref, (step) => (wasStarted(step) ? step.child : null));
  }

  /** Where the latest of them saved a checkpoint; each counts on from where the one before it did. */
  get checkpoint(): Checkpoint | null {
    const saved = this.#ancestors.flatMap(({ steps }) => steps.checkpoint ?? []);
    const [latest] = saved;
    if (latest === undefined) return null;
    const counted = saved.toReversed().flatMap(({ occurrences }) => Object.entries(occurrences));
    return { state: latest.state, occurrences: Object.fromEntries(counted) };
  }

  #firstWait<T>(ref: StepRef, look: (step: WaitStep) => T | null): T | null {
    for (const { steps } of this.#ancestors) {
      const known = steps.get(ref);
      const found = known?.kind === 'wait' ? look(known) : null;
      if (found !== null) return found;
    }
    return null;
  }
}

/** The step whose result this event records for good. */
function keptBy(event: Event): StepRef | null {
  switch (event.type) {
    case 'step.recorded':
    case 'effect.recorded':
      return refOf(event);
    case 'effect.reconciled':
      return event.verdict === 'happened' ? refOf(event) : null;
    case 'wait.completed':
      return isKept(event) ? refOf(event.wait) : null;
    default:
      return null;
  }
}

const refOf = ({ step, occurrence }: StepRef): StepRef => ({ step, occurrence });

type Ended = Pick<WaitStep, 'wait' | 'outcome' | 'payload'>;

/** Waits with a `$` in their names are the engine's own. */
function isKept(ended: Ended): boolean {
  const { wait, outcome } = ended;
  if (wait.step.startsWith('$')) return false;
  if (wait.kind !== 'child') return outcome === 'received' || outcome === 'elapsed';
  return childEnd(ended)?.status === 'succeeded';
}

/** One that could not be started was never there. */
function wasStarted(ended: Ended): boolean {
  const end = childEnd(ended);
  return !(end?.status === 'failed' && end.notStarted === true);
}

function childEnd({ payload }: Ended): ChildEnd | null {
  return JSON.parse(payload ?? 'null') as ChildEnd | null;
}

/** Reads the jobs before, back to the first. Without one of them nobody knows what happened: it throws. */
export async function readInherited(store: Store, continues: ContinuedRef): Promise<Inherited> {
  const ancestors: Ancestor[] = [];
  for (let next: ContinuedRef | null = continues; next !== null;) {
    const { jobId }: ContinuedRef = next;
    const events = eventsIn(await readLog(store, jobId));
    // Asked for afterwards: of one that is purged while it is being read, half would look like all of it.
    next = (await loadedJob(store, jobId)).spec.continues;
    ancestors.push({ jobId, events, steps: foldSteps(events) });
  }
  return new Inherited(ancestors);
}

/** What a job that goes on with this one says of it. */
export async function continuationOf(store: Store, jobId: string): Promise<ContinuedRef> {
  return { jobId, origin: originOf((await loadedJob(store, jobId)).spec) };
}

/**
 * `running`: whether the old child, which is not what is asked for, has done something is known once it has ended. `differs`: it has.
 */
export type ChildContinuation = ContinuedRef | 'running' | 'differs' | null;

/**
 * The child of a step goes on where the one of the job before was; or where the last job was that took the place of that, once it has ended:
 * until then its start is postponed. One of another task, or with another input, is a new one, unless effects of the old one happened.
 */
export async function childContinuation(
  engine: Pick<Engine, 'store'>,
  inherited: Inherited,
  { step, occurrence, task, inputHash }: StepRef & { readonly task: string; readonly inputHash: string },
): Promise<ChildContinuation> {
  const child = inherited.child({ step, occurrence });
  if (child === null) return null;
  const last = (await lastInRow(engine, child.childId)) ?? gone(child.childId);
  if (child.task === task && child.inputHash === inputHash)
    return { jobId: last.spec.jobId, origin: originOf(last.spec) };
  if (last.finishedAt === null) return 'running';
  return (await haveHappened(engine, last.spec.jobId)) ? 'differs' : null;
}

async function loadedJob(store: Store, jobId: string): Promise<Job> {
  const { found } = await store.load(jobId);
  return found?.job ?? gone(jobId);
}

function gone(jobId: string): never {
  throw new PawlError('CONTINUED_JOB_GONE', {
    detail: `job ${jobId}, whose record is to be kept, was purged`,
    details: { jobId },
  });
}
