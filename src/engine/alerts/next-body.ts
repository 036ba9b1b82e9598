import type { Timestamp } from '../../kernel/index.js';
import { SEVERITIES, type Alert, type AlertNews, type AlertState, type Finding } from './alert.js';

/**
 * An alert as it is kept. `idle`: its condition ended before it was raised; it is used again when the condition comes
 * back. `until`: for what is reported once, how long that counts; null for what is looked at in every round.
 */
export type AlertBody = Omit<Alert, 'state'> & {
  readonly state: AlertState | 'idle';
  readonly until: Timestamp | null;
};

export type Step = { readonly body: AlertBody; readonly news: readonly AlertNews[] };

export type Moment = {
  readonly now: Timestamp;
  /** How long the condition must hold before it is raised. */
  readonly forMs: number;
  readonly alertId: string;
};

/**
 * What becomes of an alert, now that its condition holds (`finding`) or does not. Null: it stays as it is. `before` null,
 * or cleared: one of its own begins.
 */
export function nextBody(
  before: AlertBody | null,
  finding: Finding | null,
  { now, forMs, alertId }: Moment,
): Step | null {
  const state = before === null || before.state === 'cleared' ? null : before.state;
  if (finding === null) {
    if (before === null || state === null || state === 'idle') return null;
    if (state === 'pending') return { body: { ...before, state: 'idle' }, news: [] };
    return { body: { ...before, state: 'cleared', clearedAt: now }, news: ['cleared'] };
  }
  if (state === 'raised') return null;
  const since = before !== null && state === 'pending' ? before.since : now;
  const isDue = now - since >= forMs;
  if (state === 'pending' && !isDue) return null;
  const { subject: _subject, ...found } = finding;
  const body: AlertBody = {
    jobId: null,
    traceId: null,
    step: null,
    ...found,
    alertId: before !== null && state !== null ? before.alertId : alertId,
    severity: SEVERITIES[finding.rule],
    state: isDue ? 'raised' : 'pending',
    since,
    raisedAt: isDue ? now : null,
    clearedAt: null,
    until: null,
  };
  return { body, news: isDue ? ['raised'] : [] };
}
