import type { BodyContext } from './body-context.js';

export type EffectContext = BodyContext & {
  /** The same for every entry of this step: pass it on to whoever can tell a repetition by it. */
  readonly idempotencyKey: string;
};

export type Verdict<O> =
  | { readonly kind: 'happened'; readonly result: O }
  | { readonly kind: 'notHappened' }
  | { readonly kind: 'cannotTell' };

/** A side effect that must not happen twice. */
export type EffectDefinition<I = unknown, O = unknown> = {
  readonly name: string;
  readonly run: (input: I, context: EffectContext) => O | Promise<O>;
  /** Asked only when the outcome is unknown, and only once nothing of it can be under way any more. */
  readonly reconcile: ((input: I, context: EffectContext) => Verdict<O> | Promise<Verdict<O>>) | null;
  /** What becomes of the job if nobody can tell: it waits for an operator, or fails for good. */
  readonly onUnknown: 'park' | 'fail';
  readonly timeoutMs: number | null;
  /** How old an intent must be before `reconcile` is asked; null: the timeout and a lease. */
  readonly settleMs: number | null;
};
