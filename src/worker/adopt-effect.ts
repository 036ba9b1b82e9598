import { stepKey, type JsonText, type Step } from '../kernel/index.js';
import { STAND_IN } from '../engine/continuing.js';
import type { InheritedEffect } from '../engine/inherited.js';
import { untilAnswered } from '../engine/until-answered.js';
import type { GiveOptions } from './held-command.js';
import { differenceOf, factsOf, NO_FACTS, type EffectUse } from './effect-use.js';
import type { Execution } from './execution.js';
import { never } from './never.js';

/** What became of an effect that a job before has entered, and recorded no result of. */
export type InheritedEntry =
  | { readonly kind: 'happened'; readonly result: JsonText }
  | { readonly kind: 'unknown' };

const STILL_RUNS_POLL_MS = 1_000;

/** An entry for what another job has entered. Alone: what is entered beside it counts. */
export const STANDS_IN: GiveOptions = { alone: true, extras: { takesOver: true } };

/**
 * What the jobs before have to say of an effect that is asked for here; null if they have no say any more. Waits while its body may still
 * run there. If it was entered with something else the handler has left its path: neither may it be entered once more, nor would its result
 * be the answer.
 */
export async function inheritedEntry(execution: Execution, use: EffectUse): Promise<InheritedEntry | null> {
  const entries = execution.inherited?.entries(use) ?? [];
  const [nearest] = entries;
  const own = execution.attempt.steps.get(use);
  if (nearest === undefined || !isOpenTo(own, nearest)) return null;
  for (;;) {
    if (execution.attempt.isOver) return never();
    let mayRun = false;
    for (const { jobId, effect } of entries) {
      const facts = await factsOf(execution, { jobId, step: use.step, occurrence: use.occurrence }, effect);
      const result = effect.result ?? facts.storedResult;
      const mayHaveHappened = effect.state !== 'closed' && nearest.effect.state !== 'closed';
      const difference = result !== null || mayHaveHappened ? differenceOf(use, effect) : null;
      if (difference !== null)
        return execution.replay.leave(use, `${difference}, in job ${jobId} (${stepKey(use)})`);
      if (result !== null) return { kind: 'happened', result };
      mayRun ||= mayHaveHappened && effect.state === 'open' && facts.bodyMayRun;
      // It has entered the effect itself: what came before says nothing of that.
      if (mayHaveHappened && effect.entry > STAND_IN) break;
    }
    // The nearest has asked about those before it. And what stands in for it is settled like any other entry.
    if (nearest.effect.state === 'closed' || own !== undefined) return null;
    if (!mayRun) return { kind: 'unknown' };
    await execution.pauseUntil(execution.engine.now() + STILL_RUNS_POLL_MS, use.step);
  }
}

/**
 * Whether a result of a job before would count: also for an entry that stands in for that one and was declared not to have happened, as
 * long as no other was entered. Not if this job has entered the effect itself.
 */
function isOpenTo(own: Step | undefined, { effect }: InheritedEffect): boolean {
  if (own === undefined) return true;
  if (own.kind !== 'effect' || own.entry !== STAND_IN || own.result !== null) return false;
  return own.state === 'closed' || effect.state !== 'closed';
}

/** Takes over the result, without entering anything: an entry of this job's own, which says what came of the other. */
export async function adoptResult(execution: Execution, use: EffectUse, result: JsonText): Promise<void> {
  const { step, occurrence, effectKey, inputText: input, effect } = use;
  if (execution.attempt.steps.get(use) === undefined) {
    const tool = effect.name;
    await execution.give(
      { type: 'begin-effect', step, occurrence, tool, effectKey, input, ...NO_FACTS },
      STANDS_IN,
    );
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
