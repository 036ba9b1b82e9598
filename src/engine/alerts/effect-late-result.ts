import type { EntryRef } from '../../ports/store.js';
import type { Engine } from '../engine.js';
import { reportAlert } from './report-alert.js';

export type LateResult = EntryRef & {
  readonly tenantId: string;
  readonly jobId: string;
  readonly traceId: string;
};

/** An effect happened that had been declared not to have. No later look would find it, so it is raised for a time. */
export async function reportLateResult(engine: Engine, late: LateResult): Promise<void> {
  const rule = engine.alerts.effectLateResult;
  if (rule === null) return;
  const { tenantId, jobId, traceId, step, occurrence, entry } = late;
  const message =
    `The effect of step '${step}' of job ${jobId} happened after it had been declared not to have, so it may have happened twice: ` +
    'find both on the other side, and undo one of them there.';
  await reportAlert(
    engine,
    {
      tenantId,
      rule: 'effect_late_result',
      subject: [jobId, step, occurrence, entry],
      value: 1,
      threshold: 1,
      message,
      jobId,
      traceId,
      step,
    },
    { until: engine.now() + rule.forMs },
  );
}
