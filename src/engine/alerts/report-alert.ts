import type { Timestamp } from '../../kernel/index.js';
import type { Engine } from '../engine.js';
import { keyOf, lastAlert, saveAlert } from './alert-records.js';
import type { Finding } from './alert.js';
import { nextBody } from './next-body.js';

/**
 * Raises an alert on something that happened just now and that no later look would find. It counts until `until`; what
 * is reported meanwhile prolongs it.
 */
export async function reportAlert(
  engine: Engine,
  finding: Finding,
  { until }: { until: Timestamp },
): Promise<void> {
  await engine.subscriptions.refreshIfStale();
  const key = keyOf(finding);
  for (;;) {
    const before = await lastAlert(engine, { tenantId: finding.tenantId, key });
    const now = engine.now();
    const step =
      before?.body.state === 'raised'
        ? { body: before.body, news: [] }
        : nextBody(before?.body ?? null, finding, { now, forMs: 0, alertId: newAlertId(engine) });
    if (step === null || (step.body.until ?? 0) >= until) return;
    if (await saveAlert(engine, { before, key }, { ...step, body: { ...step.body, until } })) return;
  }
}

/** Time-ordered, and nobody else's. */
export function newAlertId(engine: Engine): string {
  return `alert_${engine.newId(0)}`;
}
