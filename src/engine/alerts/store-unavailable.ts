import type { Engine } from '../engine.js';
import type { Outage } from '../store-health.js';
import { keyOf, lastAlert, saveAlert, type KeptAlert } from './alert-records.js';
import { SEVERITIES } from './alert.js';
import type { AlertBody, Step } from './next-body.js';
import { newAlertId } from './report-alert.js';

const RULE = { rule: 'store_unavailable' } as const;

/** Processes pause between their tries, and notice the same outage at different times. */
const SLACK_MS = 10_000;

/**
 * Writes down outages of the store that are over: while they lasted, nothing could be. One that several processes saw is
 * one alert, from the first to the last.
 */
export async function recordOutages(engine: Engine): Promise<void> {
  const rule = engine.alerts.storeUnavailable;
  for (let outage = engine.storeHealth.firstOutage; outage; outage = engine.storeHealth.firstOutage) {
    if (rule !== null && outage.until - outage.from >= rule.forMs) await record(engine, outage, rule);
    engine.storeHealth.forget(outage);
  }
}

type Rule = { readonly forMs: number; readonly tenantId: string };

async function record(engine: Engine, outage: Outage, { forMs, tenantId }: Rule): Promise<void> {
  const key = keyOf(RULE);
  for (;;) {
    const last = await lastAlert(engine, { tenantId, key });
    const same = last !== null && isSame(last.body, outage) ? last : null;
    const from = Math.min(outage.from, same?.body.since ?? outage.from);
    const until = Math.max(outage.until, same?.body.clearedAt ?? 0);
    if (same !== null && from === same.body.since && until === same.body.clearedAt) return;
    const alertId = same?.body.alertId ?? newAlertId(engine);
    const body = { ...bodyOf({ ...outage, from, until }, { forMs, tenantId }), alertId };
    const step: Step = { body, news: same === null ? ['raised', 'cleared'] : [] };
    if (await saveAlert(engine, { before: same === null ? last : reopened(same), key }, step)) return;
  }
}

function isSame({ since, clearedAt }: AlertBody, { from, until }: Outage): boolean {
  return from <= (clearedAt ?? 0) + SLACK_MS && until >= since - SLACK_MS;
}

/** The record itself is written again, and not the next of its key. */
function reopened(same: KeptAlert): KeptAlert {
  return { ...same, body: { ...same.body, state: 'raised' } };
}

function bodyOf({ from, until, code }: Outage, { forMs, tenantId }: Rule): Omit<AlertBody, 'alertId'> {
  const seconds = Math.round((until - from) / 1_000);
  return {
    ...RULE,
    tenantId,
    severity: SEVERITIES[RULE.rule],
    state: 'cleared',
    message: `The store could not be used for ${seconds} s (${code}): look at its log and at the way to it; work has gone on by itself since.`,
    value: until - from,
    threshold: forMs,
    since: from,
    raisedAt: from,
    clearedAt: until,
    until: null,
    jobId: null,
    traceId: null,
    step: null,
  };
}
