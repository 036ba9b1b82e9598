import { utcOrNull } from '../../contracts/utc.js';
import type { Timestamp } from '../../kernel/index.js';

export const ALERT_RULES = [
  'retrying_share',
  'dlq_growth',
  'transition_refused',
  'effect_late_result',
  'store_unavailable',
] as const;
export type AlertRule = (typeof ALERT_RULES)[number];

/** P1: somebody should look at once. P2: somebody should look today. */
export type Severity = 'P1' | 'P2';

export const SEVERITIES: Readonly<Record<AlertRule, Severity>> = {
  retrying_share: 'P2',
  dlq_growth: 'P2',
  transition_refused: 'P1',
  effect_late_result: 'P1',
  store_unavailable: 'P1',
};

/** `pending`: its condition holds, but not yet for long enough. */
export const ALERT_STATES = ['pending', 'raised', 'cleared'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** Something that a person should look at, from when it was raised until it cleared by itself. */
export type Alert = {
  readonly alertId: string;
  readonly tenantId: string;
  readonly rule: AlertRule;
  readonly severity: Severity;
  readonly state: AlertState;
  /** What is wrong and what to do about it, in one sentence. */
  readonly message: string;
  /** What was measured when it was raised, and what it was held against. */
  readonly value: number;
  readonly threshold: number;
  /** From when on its condition has held. */
  readonly since: Timestamp;
  readonly raisedAt: Timestamp | null;
  readonly clearedAt: Timestamp | null;
  /** What it is about, where that is one job. */
  readonly jobId: string | null;
  readonly traceId: string | null;
  readonly step: string | null;
};

/** What a rule has found: its condition holds. */
export type Finding = Pick<Alert, 'tenantId' | 'rule' | 'message' | 'value' | 'threshold'> &
  Partial<Pick<Alert, 'jobId' | 'traceId' | 'step'>> & {
    /** Tells apart what the same rule may find of one tenant at the same time. */
    readonly subject?: readonly (string | number)[];
  };

/** What subscribers of alerts are sent. */
export type AlertPayload = {
  readonly event: `alert.${AlertNews}`;
  readonly alert_id: string;
  readonly rule: AlertRule;
  readonly severity: Severity;
  readonly tenant_id: string;
  readonly message: string;
  readonly value: number;
  readonly threshold: number;
  readonly raised_at: string | null;
  readonly cleared_at: string | null;
  readonly job_id: string | null;
  readonly trace_id: string | null;
  readonly step: string | null;
};
export type AlertNews = 'raised' | 'cleared';

export function alertPayload(alert: Omit<Alert, 'state'>, news: AlertNews): AlertPayload {
  return {
    event: `alert.${news}`,
    alert_id: alert.alertId,
    rule: alert.rule,
    severity: alert.severity,
    tenant_id: alert.tenantId,
    message: alert.message,
    value: alert.value,
    threshold: alert.threshold,
    raised_at: utcOrNull(alert.raisedAt),
    cleared_at: news === 'raised' ? null : utcOrNull(alert.clearedAt),
    job_id: alert.jobId,
    trace_id: alert.traceId,
    step: alert.step,
  };
}
