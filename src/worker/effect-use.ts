import { PawlError } from '../errors.js';
import {
  canonicalJson,
  effectKeyText,
  originOf,
  stepKey,
  type EffectStep,
  type EntryFacts,
  type JsonText,
  type Step,
  type StepRef,
} from '../kernel/index.js';
import { sha256 } from '../engine/sha256.js';
import { toJsonText } from '../engine/json-text.js';
import type { EffectDefinition } from './effect-definition.js';
import type { Execution } from './execution.js';

/** One use of an effect in a job. */
export type EffectUse = StepRef & {
  readonly effect: EffectDefinition;
  readonly input: unknown;
  readonly inputText: JsonText;
  readonly effectKey: string;
};

/** Of an entry that nobody has made yet. */
export const NO_FACTS: EntryFacts = { bodyMayRun: false, storedResult: null };

/** The result was stored, and whoever stored it did not get to record it. */
export async function catchUp(
  execution: Execution,
  { step, occurrence }: StepRef,
  { storedResult }: EntryFacts,
): Promise<void> {
  const known = execution.attempt.steps.get({ step, occurrence });
  if (known?.kind !== 'effect' || storedResult === null) return;
  const { entry } = known;
  await execution.give({ type: 'record-effect', step, occurrence, entry, result: storedResult });
}

/** What the store, and this process, know about the latest entry: of this job, unless another is named. */
export async function factsOf(
  execution: Execution,
  ref: StepRef & { readonly jobId?: string },
  { entry, worker }: EffectStep,
): Promise<EntryFacts> {
  const { engine, attempt, around } = execution;
  const { jobId = attempt.job.spec.jobId } = ref;
  const { results } = await execution.read(() => engine.store.effects(jobId));
  const stored = results.find(
    (one) => one.step === ref.step && one.occurrence === ref.occurrence && one.entry === entry,
  );
  const storedResult = stored?.result ?? null;
  if (stored !== undefined) return { storedResult, bodyMayRun: false };
  // A body of this very process goes on, even if the incarnation that entered it is dead.
  const runsHere = around.bodies.has(bodyName(jobId, ref, entry));
  if (runsHere || worker.incarnation === attempt.job.worker?.incarnation) {
    return { storedResult, bodyMayRun: runsHere };
  }
  const { workers, now } = await execution.read(() =>
    engine.store.workers({ incarnations: [worker.incarnation] }),
  );
  return { storedResult, bodyMayRun: workers.some(({ dead, leaseUntil }) => !dead && now < leaseUntil) };
}

export function useOf(
  execution: Execution,
  ref: StepRef,
  effect: EffectDefinition,
  input: unknown,
): EffectUse {
  const inputText = toJsonText(input, `the input of effect '${effect.name}'`);
  const text = effectKeyText({
    jobId: originOf(execution.attempt.job.spec),
    stepKey: stepKey(ref),
    tool: effect.name,
    args: canonicalJson(inputText),
  });
  return { ...ref, effect, input: JSON.parse(inputText) as unknown, inputText, effectKey: sha256(text) };
}

/** What history has there instead, if it is not this: the handler has changed, and no fresh entry is due. */
export function differenceOf(use: EffectUse, known: Step): string | null {
  if (known.kind !== 'effect') return `history has a step of another kind there (${known.kind})`;
  if (known.tool !== use.effect.name) return `history has effect '${known.tool}' there`;
  return known.effectKey === use.effectKey ? null : 'history has the effect there, with other arguments';
}

/** How an effect of unknown outcome ends a job whose effect or operator does not want it to wait. */
export function unknownOutcome(use: EffectUse): PawlError {
  return new PawlError('EFFECT_UNKNOWN', {
    detail: `nobody can tell whether effect '${use.effect.name}' happened at step '${stepKey(use)}'`,
    details: { step: stepKey(use) },
  });
}

/** Names a body among those that run in this process. */
export function bodyName(jobId: string, ref: StepRef, entry: number): string {
  return `${jobId} ${stepKey(ref)} ${entry}`;
}
