import { PawlError } from '../errors.js';
import {
  originOf,
  stepKey,
  type Checkpoint,
  type ContinuedRef,
  type EffectStep,
  type Event,
  type Job,
  type JsonText,
  type StepLog,
  type StepRef,
  type Timestamp,
  type WaitStep,
} from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import type { ChildEnd } from './child-mail.js';
import { eventsIn, foldSteps, readLog } from './read-log.js';

type Ancestor = { readonly jobId: string; readonly events: readonly Event[]; readonly steps: StepLog };

/** An effect as an earlier job has it. */
export type InheritedEffect = { readonly jobId: string; readonly effect: EffectStep };

/**
 * What the jobs before have recorded, for one that goes on with it. The nearest of them is asked first. What has failed, or timed out, is
 * not kept: to try it again is what the job is for.
 */
export class Inherited {
  readonly #ancestors: readonly Ancestor[];
  /** The steps whose results are kept, by their keys, in the order in which those were recorded. */
  readonly order: readonly string[];

  constructor(ancestors: readonly Ancestor[]) {
    this.#ancestors = ancestors;
    const events = ancestors.toReversed().flatMap((ancestor) => ancestor.events);
    this.order = [...new Set(events.flatMap((event) => keptBy(event) ?? []))];
  }

  /** The result of a step. */
  output(ref: StepRef): JsonText | null {
    return this.#first(({ steps }) => {
      const known = steps.get(ref);
      return known?.kind === 'run' ? known.output : null;
    });
  }

  /** The latest entry of an effect in each of them, whatever became of it. */
  entries(ref: StepRef): InheritedEffect[] {
    return this.#ancestors.flatMap(({ jobId, steps }) => {
      const effect = steps.get(ref);
      return effect?.kind === 'effect' ? [{ jobId, effect }] : [];
    });
  }

  /** A wait that is over, with what came of it. */
  ended(ref: StepRef): WaitStep | null {
    return this.#first(({ steps }) => {
      const known = steps.get(ref);
      return known?.kind === 'wait' && isKept(known) ? known : null;
    });
  }

  /** When a sleep ends that has begun. */
  sleepsUntil(ref: StepRef): Timestamp | null {
    return this.#first(({ steps }) => {
      const known = steps.get(ref);
      return known?.kind === 'wait' ? known.wait.expiresAt : null;
    });
  }

  /** The child of a step. */
  child(ref: StepRef): WaitStep['child'] {
    return this.#first(({ steps }) => {
      const known = steps.get(ref);
      return known?.kind === 'wait' ? known.child : null;
    });
  }

  /** Where the latest of them saved a checkpoint; each counts on from where the one before it did. */
  get checkpoint(): Checkpoint | null {
    const saved = this.#ancestors.flatMap(({ steps }) => steps.checkpoint ?? []);
    const [latest] = saved;
    if (latest === undefined) return null;
    const counted = saved.toReversed().flatMap(({ occurrences }) => Object.entries(occurrences));
    return { state: latest.state, occurrences: Object.fromEntries(counted) };
  }

  #first<T>(look: (ancestor: Ancestor) => T | null): T | null {
    for (const ancestor of this.#ancestors) {
      const found = look(ancestor);
      if (found !== null) return found;
    }
    return null;
  }
}

/** The step whose result this event records for good. */
function keptBy(event: Event): string | null {
  switch (event.type) {
    case 'step.recorded':
    case 'effect.recorded':
      return stepKey(event);
    case 'effect.reconciled':
      return event.verdict === 'happened' ? stepKey(event) : null;
    case 'wait.completed':
      return isKept(event) ? stepKey(event.wait) : null;
    default:
      return null;
  }
}

/** Waits with a `$` in their names are the engine's own. */
function isKept({ wait, outcome, payload }: Pick<WaitStep, 'wait' | 'outcome' | 'payload'>): boolean {
  if (wait.step.startsWith('$')) return false;
  if (wait.kind !== 'child') return outcome === 'received' || outcome === 'elapsed';
  return (JSON.parse(payload ?? 'null') as ChildEnd | null)?.status === 'succeeded';
}

/** Reads the jobs before, back to the first. Without one of them nobody knows what happened: it throws. */
export async function readInherited(store: Store, continues: ContinuedRef): Promise<Inherited> {
  const ancestors: Ancestor[] = [];
  for (let next: ContinuedRef | null = continues; next !== null;) {
    const { jobId }: ContinuedRef = next;
    const events = eventsIn(await readLog(store, jobId));
    // Asked for afterwards: of one that is purged while it is being read, half would look like all of it.
    next = (await specOf(store, jobId)).continues;
    ancestors.push({ jobId, events, steps: foldSteps(events) });
  }
  return new Inherited(ancestors);
}

/** What a job that goes on with this one says of it. */
export async function continuationOf(store: Store, jobId: string): Promise<ContinuedRef> {
  return { jobId, origin: originOf(await specOf(store, jobId)) };
}

/** The child of a step goes on where the one of the job before was, if that was of the same task. */
export async function childContinuation(
  store: Store,
  inherited: Inherited,
  { step, occurrence, task }: StepRef & { readonly task: string },
): Promise<ContinuedRef | null> {
  const child = inherited.child({ step, occurrence });
  return child?.task === task ? continuationOf(store, child.childId) : null;
}

async function specOf(store: Store, jobId: string): Promise<Job['spec']> {
  const { found } = await store.load(jobId);
  if (found !== null) return found.job.spec;
  throw new PawlError('CONTINUED_JOB_GONE', {
    detail: `job ${jobId}, whose record is to be kept, was purged`,
    details: { jobId },
  });
}
