import { attemptOf, effectDecisionWait, stepKey, type EffectStep, type JsonText } from '../kernel/index.js';
import { rejectionError } from '../engine/rejection-error.js';
import { adoptResult, adoptUnknown, inheritedEntry, STANDS_IN } from './adopt-effect.js';
import { settle } from './effect-barrier.js';
import type { EffectDefinition } from './effect-definition.js';
import { enter } from './effect-entry.js';
import {
  catchUp,
  differenceOf,
  factsOf,
  NO_FACTS,
  unknownOutcome,
  useOf,
  type EffectUse,
} from './effect-use.js';
import type { Execution } from './execution.js';
import { never } from './never.js';
import { StepError } from './run-step.js';
import { readEffectResult } from './unkept-result.js';

/** How often a body that runs elsewhere is asked after. */
const IN_FLIGHT_POLL_MS = 1_000;

/**
 * Enters an effect at most once, unless it was declared not to have happened: intent, body, result, record. What an
 * earlier attempt has begun is found out about first, and never begun again blindly.
 */
export async function effectStep(
  execution: Execution,
  name: string,
  effect: EffectDefinition,
  input: unknown,
): Promise<unknown> {
  const { attempt, replay } = execution;
  if (attempt.isOver) return never();
  const ref = execution.begin(name, 'effect');
  try {
    const use = useOf(execution, ref, effect, input);
    const known = attempt.steps.get(ref);
    const difference = known === undefined ? null : differenceOf(use, known);
    if (difference !== null) return await replay.leave(use, difference);
    for (;;) {
      const result = await advance(execution, use);
      if (result !== null) return readEffectResult(result);
    }
  } finally {
    execution.end(ref);
  }
}

/** One move forward; the result once there is one. */
async function advance(execution: Execution, use: EffectUse): Promise<JsonText | null> {
  const { attempt, replay } = execution;
  const known = attempt.steps.get(use);
  if (known?.kind === 'effect' && known.result !== null) {
    await replay.deliver(use);
    return known.result;
  }
  if (known?.kind === 'effect') await expectUnfailed(execution, use, known);
  // Only these may be entered. Of another nobody knows how it ended: that may be what the handler goes on with, to steps that are recorded.
  if (known?.kind !== 'effect' || known.state === 'closed')
    await execution.during(() => replay.caughtUp(use, { isKnown: known !== undefined }));
  else replay.visit(use);
  const inherited = execution.inherited === null ? null : await inheritedEntry(execution, use);
  if (inherited?.kind === 'happened') {
    await adoptResult(execution, use, inherited.result);
    return null;
  }
  const facts = known?.kind === 'effect' ? await factsOf(execution, use, known) : NO_FACTS;
  const { step, occurrence, effectKey, inputText } = use;
  const answer = await execution.ask(
    {
      type: 'begin-effect',
      step,
      occurrence,
      tool: use.effect.name,
      effectKey,
      input: inputText,
      ...facts,
    },
    // A result of the entry before may turn up until the next one is recorded. Then it counts, and is found by another look.
    known?.kind === 'effect'
      ? { alone: true, extras: { noResultOf: { step, occurrence, entry: known.entry } } }
      : ((inherited && STANDS_IN) ?? {}),
  );
  if (answer === 'moved') return null;
  if (answer.ok) {
    await (inherited === null ? enter(execution, use) : adoptUnknown(execution, use));
    return null;
  }
  switch (answer.code) {
    case 'EFFECT_RECORDED':
      await catchUp(execution, use, facts);
      return null;
    case 'EFFECT_IN_FLIGHT':
      await execution.pauseUntil(execution.engine.now() + IN_FLIGHT_POLL_MS, use.step);
      return null;
    case 'EFFECT_BARRIER':
      await settle(execution, use, facts);
      return null;
    default:
      throw rejectionError(answer, `enter effect '${use.effect.name}' at step '${stepKey(use)}'`);
  }
}

/**
 * An entry that threw, and turned out not to have happened, has failed for this attempt: the handler sees the same error
 * in every replay, and the next entry costs a retry. Unless an operator said to go on. The same where it was given up as unknown.
 */
async function expectUnfailed(
  { attempt, replay }: Execution,
  use: EffectUse,
  known: EffectStep,
): Promise<void> {
  const { state, entry, failure, failedInAttempt } = known;
  const { step, occurrence } = use;
  const failed = failedInAttempt === attemptOf(attempt.job) ? failure : null;
  const decided = attempt.steps.waitFor(effectDecisionWait({ step, occurrence, entry }).key);
  if (state === 'closed' && failed !== null && !decided) {
    await replay.deliverFailure(use);
    throw new StepError(failed);
  }
  if (state !== 'unknown') return;
  const { reconcile, onUnknown } = use.effect;
  const couldNotTell = reconcile === null ? failed !== null : replay.couldNotTell(use);
  const gaveUp = decided ? decided.outcome !== null : onUnknown === 'fail' && couldNotTell;
  if (!gaveUp) return;
  await replay.deliverFailure(use);
  throw unknownOutcome(use);
}
