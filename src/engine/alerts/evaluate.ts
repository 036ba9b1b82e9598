import type { Engine } from '../engine.js';
import { forgetCleared, keyOf, readAlerts, saveAlert, type KeptAlert } from './alert-records.js';
import type { AlertRule, Finding } from './alert.js';
import type { AlertOptions } from './alert-options.js';
import { findDlqGrowth } from './dlq-growth.js';
import { nextBody } from './next-body.js';
import { newAlertId } from './report-alert.js';
import { findRetryingShare } from './retrying-share.js';
import { recordOutages } from './store-unavailable.js';

/**
 * Looks at every rule once: what holds is raised once it has held for long enough, what no longer holds is cleared. Any
 * number of processes may do so at once; the records decide which of them was first.
 */
export async function evaluateAlerts(engine: Engine): Promise<boolean> {
  const { alerts } = engine;
  await engine.subscriptions.refreshIfStale();
  await recordOutages(engine);
  const kept = await readAlerts(engine, null);
  const last = new Map(kept.map((one) => [nameOf(one), one]));
  const findings = [
    ...(await findRetryingShare(engine, alerts.retryingShare)),
    ...(await findDlqGrowth(engine, alerts.dlqGrowth, raisedFor(last, 'dlq_growth'))),
  ];
  const found = new Map(findings.map((one) => [nameOf({ ...one, key: keyOf(one) }), one]));
  for (const name of new Set([...last.keys(), ...found.keys()])) {
    await settle(engine, last.get(name) ?? null, found.get(name) ?? null);
  }
  await forgetCleared(engine, kept, { before: engine.now() - alerts.keepMs });
  return false;
}

async function settle(engine: Engine, before: KeptAlert | null, finding: Finding | null): Promise<void> {
  const now = engine.now();
  if (before !== null && stillCounts(engine.alerts, before, now)) return;
  const forMs = engine.alerts.retryingShare?.forMs ?? 0;
  const moment = { now, forMs: finding?.rule === 'retrying_share' ? forMs : 0, alertId: newAlertId(engine) };
  const step = nextBody(before?.body ?? null, finding, moment);
  if (step === null) return;
  const key = finding === null ? (before?.key ?? '') : keyOf(finding);
  // Whoever was faster has seen to it; the next round looks again.
  await saveAlert(engine, { before, key }, step);
}

/** What was reported counts for its time, unless its rule was switched off. */
function stillCounts(alerts: AlertOptions, { body }: KeptAlert, now: number): boolean {
  if (body.until === null || body.state !== 'raised' || now >= body.until) return false;
  return isOn(alerts, body.rule);
}

function isOn(alerts: AlertOptions, rule: AlertRule): boolean {
  if (rule === 'transition_refused') return alerts.transitionRefused !== null;
  return rule !== 'effect_late_result' || alerts.effectLateResult !== null;
}

function raisedFor(last: ReadonlyMap<string, KeptAlert>, rule: AlertRule): ReadonlySet<string> {
  const raised = [...last.values()].filter(({ body }) => body.rule === rule && body.state === 'raised');
  return new Set(raised.map(({ tenantId }) => tenantId));
}

function nameOf({ tenantId, key }: Pick<KeptAlert, 'tenantId' | 'key'>): string {
  return JSON.stringify([tenantId, key]);
}
