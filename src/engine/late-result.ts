import { PawlError } from '../errors.js';
import type { EffectStep } from '../kernel/index.js';
import type { EffectResult } from '../ports/store.js';
import { reportLateResult, type LateResult } from './alerts/effect-late-result.js';
import type { Engine } from './engine.js';
import { readSteps } from './read-log.js';
import { untilAnswered } from './until-answered.js';

/**
 * Makes it known if a result was kept for an entry that had been declared not to have happened. Null: it was not. A
 * worker behind a server raises no alert: the server does, which sees the result too.
 */
export async function noteIfLate(
  engine: Engine,
  kept: EffectResult,
  { tenantId, traceId }: { readonly tenantId: string; readonly traceId: string },
): Promise<LateResult | null> {
  // Nobody looks again: one that goes unread once is hidden for good.
  const effect = (await untilAnswered(engine, () => readSteps(engine.store, kept.jobId))).get(kept);
  if (effect?.kind !== 'effect' || !isLate(effect, kept.entry)) return null;
  const { jobId, step, occurrence, entry } = kept;
  const late = { jobId, step, occurrence, entry };
  engine.meters.lateEffects += 1;
  engine.log.error('EFFECT_LATE_RESULT: an effect happened that had been declared not to have', late);
  try {
    await untilAnswered(engine, () => reportLateResult(engine, { ...late, tenantId, traceId }));
  } catch (error) {
    if (!(error instanceof PawlError && error.code === 'REMOTE_UNSUPPORTED')) throw error;
  }
  return { ...late, tenantId, traceId };
}

function isLate(effect: EffectStep, entry: number): boolean {
  return entry < effect.entry || effect.state === 'closed';
}
