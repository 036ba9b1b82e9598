import { get } from './call.js';
import { list, nullable, number, object, oneOf, text, type Of } from './shape.js';

export const ALERT_STATES = ['raised', 'pending', 'cleared', 'all'] as const;
export type AlertFilter = (typeof ALERT_STATES)[number];

const alert = object({
  alert_id: text,
  rule: text,
  severity: oneOf('P1', 'P2'),
  state: oneOf('pending', 'raised', 'cleared'),
  message: text,
  value: number,
  threshold: number,
  since: text,
  raised_at: nullable(text),
  cleared_at: nullable(text),
  job_id: nullable(text),
  trace_id: nullable(text),
  step: nullable(text),
});
export type Alert = Of<typeof alert>;

const answer = object({ alerts: list(alert) });

export async function listAlerts(state: AlertFilter, signal: AbortSignal): Promise<readonly Alert[]> {
  return (await get('/api/v1/alerts', answer, { query: { state, limit: 200 }, signal })).alerts;
}
