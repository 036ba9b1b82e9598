import { PawlError } from '../errors.js';
import type { JsonText, StepRef } from '../kernel/index.js';
import { failureOf, NoEffectError } from '../engine/failure-of.js';
import { noteIfLate } from '../engine/late-result.js';
import { untilAnswered } from '../engine/until-answered.js';
import type { EffectResult } from '../ports/store.js';
import { runBody } from './body.js';
import { settle } from './effect-barrier.js';
import { bodyName, type EffectUse } from './effect-use.js';
import type { Execution } from './execution.js';
import { never } from './never.js';
import { callHook } from './hooks.js';
import { effectResultText } from './unkept-result.js';

/** The intent is recorded: enters the body, keeps its result, and records it. */
export async function enter(execution: Execution, use: EffectUse): Promise<void> {
  const { attempt } = execution;
  const entry = latestEntry(execution, use);
  if (!(await holdsLease(execution))) {
    // The intent is saved, and its body will never run: whoever takes over must not wait for it.
    const { jobId } = attempt.job.spec;
    const kept = { jobId, step: use.step, occurrence: use.occurrence, entry, result: null };
    await keepResult(execution, kept, { straggles: false });
    return never();
  }
  const ended = await execution.during(() => runEntry(execution, use, entry));
  if (attempt.isOver) return never();
  const { step, occurrence } = use;
  const ref = { step, occurrence, entry };
  if (ended.kind === 'returned') {
    await execution.give({ type: 'record-effect', ...ref, result: ended.result });
    return;
  }
  const failure = failureOf(ended.error);
  if (ended.error instanceof NoEffectError) {
    const closed = await execution.ask(
      { type: 'close-effect', ...ref, failure },
      { alone: true, extras: { noResultOf: ref } },
    );
    // A result that turned up in between counts, and is found by the next look.
    if (closed === 'moved') return;
    throw ended.error.cause ?? ended.error;
  }
  await execution.give({ type: 'doubt-effect', ...ref, failure });
  if (await settle(execution, use, { bodyMayRun: false, storedResult: null })) return;
  throw ended.error;
}

/**
 * A worker that may have lost its lease meanwhile must not begin: somebody else may already be asking around. Either the
 * lease turns out to be good, or the attempt is over.
 */
async function holdsLease(execution: Execution): Promise<boolean> {
  const { attempt, around, engine } = execution;
  while (!around.holdsLease() && !attempt.isOver) {
    await execution.during(
      () =>
        new Promise<void>((resolve) => {
          engine.alarms.set(LEASE_POLL_MS, resolve);
        }),
    );
  }
  return !attempt.isOver;
}

const LEASE_POLL_MS = 10;

type Ended =
  | { readonly kind: 'returned'; readonly result: JsonText }
  | { readonly kind: 'threw'; readonly error: unknown };

/**
 * Runs the body. Its result is kept whatever has become of the attempt meanwhile: what is known to have happened must
 * never be forgotten.
 */
async function runEntry(execution: Execution, use: EffectUse, entry: number): Promise<Ended> {
  const { around, attempt } = execution;
  const { effect, input, effectKey, step, occurrence } = use;
  const { jobId, stepTimeoutMs } = attempt.job.spec;
  const name = bodyName(jobId, use, entry);
  const ref = { jobId, step, occurrence, entry };
  const keep = (result: JsonText | null) => keepResult(execution, { ...ref, result }, { straggles: false });
  around.bodies.add(name);
  let body: Promise<unknown> | null = null;
  try {
    const value = await runBody(
      execution,
      { what: `effect '${effect.name}'`, timeoutMs: effect.timeoutMs ?? stepTimeoutMs },
      (context) => {
        body = (async () =>
          effect.run(input, {
            idempotencyKey: effectKey,
            get signal() {
              return context.signal;
            },
          }))();
        return body;
      },
    );
    const result = effectResultText(value, effect.name);
    await keep(result);
    return { kind: 'returned', result };
  } catch (error) {
    const timedOut = error instanceof PawlError && error.code === 'STEP_TIMEOUT' && body !== null;
    if (timedOut) {
      const keepLate = (result: JsonText) => keepResult(execution, { ...ref, result }, { straggles: true });
      keepStraggler(body as unknown as Promise<unknown>, { effect: effect.name, keep: keepLate }).catch(
        (failure: unknown) => {
          execution.engine.log.error('the result of an effect could not be kept', {
            jobId,
            step,
            error: failure,
          });
        },
      );
    }
    // Past its time nobody waits for it any more, be it here, in a later attempt or elsewhere: its outcome is unknown.
    await keep(null);
    return { kind: 'threw', error };
  } finally {
    // Also if the store refuses what is to be kept: else every later attempt of this process would wait for a body that is over.
    around.bodies.delete(name);
  }
}

/** The body went on past its time. What it comes to is kept all the same. */
async function keepStraggler(
  body: Promise<unknown>,
  { effect, keep }: { effect: string; keep: (result: JsonText) => Promise<void> },
): Promise<void> {
  const result = await body.then(
    (value) => effectResultText(value, effect),
    () => null,
  );
  if (result !== null) await keep(result);
}

/**
 * Until the store has it, however long that takes. A result that comes too late is made known: whether it does is looked up
 * if the attempt is over, or the body past its time. Its attempt may have declared that it did not happen, and not know yet
 * that this was saved.
 */
async function keepResult(
  { engine, attempt, around }: Execution,
  kept: EffectResult,
  { straggles }: { straggles: boolean },
): Promise<void> {
  const awaitedBy = straggles ? null : attempt.attemptId;
  await untilAnswered(engine, () => engine.store.putEffect(kept, awaitedBy));
  if (kept.result === null || !(attempt.isOver || straggles)) return;
  const late = await noteIfLate(engine, kept, attempt.job.spec);
  if (late === null) return;
  const { jobId, step, occurrence, entry } = late;
  callHook(engine.log, 'lateResult', () => around.hooks.lateResult?.({ jobId, step, occurrence, entry }));
}

function latestEntry({ attempt }: Execution, ref: StepRef): number {
  const known = attempt.steps.get(ref);
  return known?.kind === 'effect' ? known.entry : 1;
}
