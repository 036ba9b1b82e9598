import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';
import { by, type By } from './by-and-tenant.js';

export type EffectDecision =
  | { readonly verdict: 'happened'; readonly result: unknown }
  | { readonly verdict: 'notHappened' }
  | { readonly verdict: 'fail' };

/** Which effect: by its step, and the how-manieth of that name and the how-manieth try at it that is. */
export type EffectRef = {
  readonly step: string;
  readonly occurrence?: number;
  readonly entry?: number | null;
};

export const RESOLVE = new Options<EffectRef & By & EffectDecision>({
  step: is.required(is.text),
  occurrence: is.whole(1),
  entry: is.orNull(is.whole(1)),
  by,
  verdict: is.required(is.oneOf('happened', 'notHappened', 'fail')),
  result: is.elsewhere,
});

export type Abandon = By & { readonly reason: string };

/** A reason that says nothing, or too much, is the engine's to refuse. */
export const ABANDON = new Options<Abandon>({ by, reason: is.required(is.string) });
