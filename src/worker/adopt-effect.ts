import { PawlError } from '../errors.js';
import { stepKey, type EntryFacts, type JsonText, type Step } from '../kernel/index.js';
import { STAND_IN } from '../engine/continuing.js';
import type { InheritedEffect } from '../engine/inherited.js';
import { untilAnswered } from '../engine/until-answered.js';
import { differenceOf, factsOf, type EffectUse } from './effect-use.js';
import type { Execution } from './execution.js';

/** What became of an effect that a job before has entered. */
export type InheritedEntry =
  | { readonly kind: 'happened'; readonly result: JsonText }
  | { readonly kind: 'unknown' };

const STILL_RUNS_POLL_MS = 1_000;

/**
 * What the jobs before have to say of an effect that is asked for here; null if this one may enter it. Waits while its body may still run
 * there. Throws if it was entered with something else: neither may it be entered once more, nor is its result the answer.
 */
export async function inheritedEntry(execution: Execution, use: EffectUse): Promise<InheritedEntry | null> {
  const entries = execution.inherited?.entries(use) ?? [];
  const [nearest] = entries;
  if (nearest === undefined || !isStandIn(execution.attempt.steps.get(use), nearest)) return null;
  for (;;) {
    let mayRun = false;
    for (const { jobId, effect } of entries) {
      const facts = await factsOf(execution, { jobId, step: use.step, occurrence: use.occurrence }, effect);
      const result = effect.result ?? facts.storedResult;
      if (result !== null || effect.state !== 'closed') expectSame(use, { jobId, effect });
      if (result !== null) return { kind: 'happened', result };
      mayRun ||= effect.state === 'open' && facts.bodyMayRun;
    }
    // The nearest has asked about those before it.
    if (nearest.effect.state === 'closed') return null;
    if (!mayRun) return { kind: 'unknown' };
    await execution.pauseUntil(execution.engine.now() + STILL_RUNS_POLL_MS, use.step);
  }
}

/** This job has not entered it: what it may have is an entry that stands for that of a job before. */
function isStandIn(own: Step | undefined, { effect }: InheritedEffect): boolean {
  if (own === undefined) return true;
  // Of one that did not happen there nobody had a result when this job entered it itself.
  return own.kind === 'effect' && own.entry === STAND_IN && own.state === 'open' && effect.state !== 'closed';
}

function expectSame(use: EffectUse, { jobId, effect }: InheritedEffect): void {
  const difference = differenceOf(use, effect);
  if (difference === null) return;
  const step = stepKey(use);
  throw new PawlError('CONTINUATION_DIFFERS', {
    detail: `effect '${use.effect.name}' of step '${step}' is not what job ${jobId} entered there: ${difference}`,
    details: { step, jobId },
  });
}

/** Takes over the result, without entering anything: an entry of this job's own, which says what came of the other. */
export async function adoptResult(execution: Execution, use: EffectUse, result: JsonText): Promise<void> {
  const { step, occurrence, effectKey, inputText: input, effect } = use;
  if (execution.attempt.steps.get(use) === undefined) {
    const tool = effect.name;
    await execution.give({ type: 'begin-effect', step, occurrence, tool, effectKey, input, ...NO_FACTS });
  }
  await keep(execution, use, result);
  await execution.give({ type: 'record-effect', step, occurrence, entry: STAND_IN, result });
}

/** An entry of this job's own has been made for one of unknown outcome. Its body runs nowhere: it is for `reconcile` or an operator to settle. */
export function adoptUnknown(execution: Execution, use: EffectUse): Promise<void> {
  return keep(execution, use, null);
}

async function keep(
  execution: Execution,
  { step, occurrence }: EffectUse,
  result: JsonText | null,
): Promise<void> {
  const { engine, attempt } = execution;
  const kept = { jobId: attempt.job.spec.jobId, step, occurrence, entry: STAND_IN, result };
  await execution.during(() => untilAnswered(engine, () => engine.store.putEffect(kept, attempt.attemptId)));
}

const NO_FACTS: EntryFacts = { bodyMayRun: false, storedResult: null };
