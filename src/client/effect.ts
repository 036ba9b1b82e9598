import { toMs, type Duration } from '../engine/duration.js';
import * as is from '../engine/option-checks.js';
import { invalidOption, Options } from '../engine/options.js';
import { FatalError, NoEffectError } from '../engine/failure-of.js';
import type { EffectContext, EffectDefinition, Verdict } from '../worker/effect-definition.js';

export type EffectOptions<I, O> = {
  readonly name: string;
  /** Makes it happen. A throw leaves the outcome unknown, unless it is `noEffect(error)`. */
  readonly run: (input: I, context: EffectContext) => O | Promise<O>;
  /** Finds out whether it happened, when nobody knows. Without it an operator is asked. */
  readonly reconcile?: (input: I, context: EffectContext) => Verdict<O> | Promise<Verdict<O>>;
  readonly onUnknown?: 'park' | 'fail';
  readonly timeout?: Duration;
  /** How long a request may be under way after whoever sent it is gone. */
  readonly settle?: Duration;
};

export type Effect<I, O> = {
  readonly name: string;
  readonly definition: EffectDefinition;
  readonly '~types'?: { input: I; output: O };
};

const EFFECT = new Options<EffectOptions<unknown, unknown>>({
  name: is.required(is.text),
  run: is.required(is.func),
  reconcile: is.func,
  onUnknown: is.oneOf('park', 'fail'),
  timeout: is.duration,
  settle: is.duration,
});

/** Defines a side effect that is entered at most once, unless it was declared not to have happened. */
export function effect<I, O>(options: EffectOptions<I, O>): Effect<I, O> {
  EFFECT.expect(options, typeof options?.name === 'string' ? `effect '${options.name}'` : 'effect()');
  const { name, run, reconcile = null, onUnknown = 'park', timeout, settle } = options;
  if (name.length > 200) {
    throw invalidOption('name', `an effect has the name '${name}', which is longer than 200 characters`);
  }
  return {
    name,
    definition: {
      name,
      run,
      reconcile,
      onUnknown,
      timeoutMs: timeout === undefined ? null : toMs(timeout, `timeout of effect '${name}'`),
      settleMs: settle === undefined ? null : toMs(settle, `settle of effect '${name}'`),
    } as EffectDefinition,
  };
}

/** `reconcile` found that the effect happened, with this result. */
export function happened<O>(result: O): Verdict<O> {
  return { kind: 'happened', result };
}

/** `reconcile` found that nothing happened: the effect may be entered again. */
export function notHappened(): Verdict<never> {
  return { kind: 'notHappened' };
}

export function cannotTell(): Verdict<never> {
  return { kind: 'cannotTell' };
}

/** Wraps an error that no retry can mend: the job goes to the dead-letter queue at once. */
export function fatal(error: unknown): FatalError {
  return new FatalError(messageOf(error), { cause: error });
}

/** Wraps an error that proves that an effect did not happen, such as a refused connection: it may be entered again. */
export function noEffect(error: unknown): NoEffectError {
  return new NoEffectError(messageOf(error), { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
