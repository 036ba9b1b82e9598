import {
  DEFAULT_LEASE_MS,
  effectDecisionWait,
  type EffectStep,
  type EffectVerdict,
  type EntryFacts,
} from '../kernel/index.js';
import { failureOf } from '../engine/failure-of.js';
import { rejectionError } from '../engine/rejection-error.js';
import { toJsonText } from '../engine/json-text.js';
import { runBody } from './body.js';
import { catchUp, factsOf, unknownOutcome, type EffectUse } from './effect-use.js';
import type { Execution } from './execution.js';

/** For effects without a timeout: how long a request may be under way after whoever sent it is gone. */
const DEFAULT_SETTLE_MS = 30_000;

/**
 * The body was entered and nobody knows how it ended. Finds out, without ever entering it: by `reconcile` once nothing
 * of it can be under way any more, else by an operator. True if the effect turned out to have happened.
 */
export async function settle(execution: Execution, use: EffectUse, facts: EntryFacts): Promise<boolean> {
  const known = execution.attempt.steps.get(use);
  if (known?.kind !== 'effect') return false;
  const { entry } = known;
  if (facts.storedResult !== null) {
    await catchUp(execution, use, facts);
    return true;
  }
  const decided = execution.attempt.steps.waitFor(effectDecisionWait({ ...use, entry }).key);
  // Decided and still unknown: the operator gave the job up.
  if (decided && decided.outcome !== null) throw unknownOutcome(use);
  if (decided === undefined && use.effect.reconcile !== null) {
    const verdict = await reconcile(execution, use, known);
    if (verdict !== 'cannotTell') return verdict === 'happened';
  }
  if (use.effect.onUnknown === 'fail') throw unknownOutcome(use);
  await execution.waits.wait(effectDecisionWait({ step: use.step, occurrence: use.occurrence, entry }));
  return isCommitted(execution, use);
}

async function reconcile(
  execution: Execution,
  use: EffectUse,
  { entry, intendedAt }: EffectStep,
): Promise<'happened' | 'notHappened' | 'cannotTell'> {
  const { effect, step, occurrence } = use;
  const settleMs = settleMsOf(execution, use);
  await execution.pauseUntil(intendedAt + settleMs, step);
  for (;;) {
    const known = execution.attempt.steps.get(use);
    if (known?.kind !== 'effect') return 'cannotTell';
    const facts = await factsOf(execution, use, known);
    if (facts.storedResult !== null) {
      await catchUp(execution, use, facts);
      return 'happened';
    }
    if (known.state === 'open' && facts.bodyMayRun) {
      await execution.pauseUntil(execution.engine.now() + SETTLE_POLL_MS, step);
      continue;
    }
    const found = await execution.during(() => askReconcile(execution, use));
    const verdict = verdictOf(found, effect.name);
    const ref = { step, occurrence, entry };
    const answer = await execution.ask(
      { type: 'reconcile-effect', ...ref, ...facts, verdict, settleMs },
      { alone: true, extras: { noResultOf: ref } },
    );
    if (answer === 'moved') continue;
    if (answer.ok) return verdict.kind;
    if (answer.code !== 'EFFECT_UNSETTLED') throw rejectionError(answer, `reconcile '${effect.name}'`);
    await execution.pauseUntil(Number(answer.details.settledAt), step);
  }
}

const SETTLE_POLL_MS = 1_000;

/**
 * A throw costs a retry, like any other. Where there is none left the job would be given up over it, with an outcome that nobody knows:
 * then it means that nobody can tell.
 */
async function askReconcile(execution: Execution, { effect, input, effectKey }: EffectUse): Promise<unknown> {
  const { attempt, engine } = execution;
  const timeoutMs = effect.timeoutMs ?? attempt.job.spec.stepTimeoutMs;
  try {
    return await runBody(execution, { what: `reconcile of '${effect.name}'`, timeoutMs }, async (context) =>
      effect.reconcile?.(input, {
        idempotencyKey: effectKey,
        get signal() {
          return context.signal;
        },
      }),
    );
  } catch (error) {
    const { retryCount, spec } = attempt.job;
    const isLast = retryCount >= spec.retry.maxRetries || !failureOf(error).retryable;
    if (!isLast || attempt.isOver) throw error;
    engine.log.warn('reconcile threw, and no retry is left', {
      effect: effect.name,
      jobId: spec.jobId,
      error,
    });
    return { kind: 'cannotTell' };
  }
}

function verdictOf(found: unknown, effect: string): EffectVerdict {
  const { kind, result } = (found ?? {}) as { kind?: unknown; result?: unknown };
  if (kind === 'notHappened') return { kind };
  if (kind === 'happened') {
    return { kind, result: toJsonText(result, `what reconcile of '${effect}' found`) };
  }
  return { kind: 'cannotTell' };
}

function settleMsOf({ around, attempt }: Execution, { effect }: EffectUse): number {
  if (effect.settleMs !== null) return effect.settleMs;
  const timeoutMs = effect.timeoutMs ?? attempt.job.spec.stepTimeoutMs ?? DEFAULT_SETTLE_MS;
  return timeoutMs + (around.leaseMs || DEFAULT_LEASE_MS);
}

function isCommitted({ attempt }: Execution, use: EffectUse): boolean {
  const known = attempt.steps.get(use);
  return known?.kind === 'effect' && known.state === 'committed';
}
