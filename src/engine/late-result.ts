import { PawlError } from '../errors.js';
import type { EffectResult } from '../ports/store.js';
import { reportLateResult, type LateResult } from './alerts/effect-late-result.js';
import { continuedBy, STAND_IN } from './continuing.js';
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
  const isLate = await untilAnswered(engine, () => wasDenied(engine, { ...kept, tenantId }));
  if (!isLate) return null;
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

/** By its own job, or by one that goes on with that: there the first entry stands for what was entered here. */
async function wasDenied(
  engine: Engine,
  { jobId, tenantId, entry, ...ref }: EffectResult & { readonly tenantId: string },
): Promise<boolean> {
  const effect = (await readSteps(engine.store, jobId)).get(ref);
  if (effect?.kind === 'effect' && (entry < effect.entry || effect.state === 'closed')) return true;
  const next = await continuedBy(engine, { jobId, tenantId });
  return next !== null && (await wasDenied(engine, { jobId: next, tenantId, entry: STAND_IN, ...ref }));
}
