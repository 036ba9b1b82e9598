import { PawlError } from '../../errors.js';
import type { Engine } from '../engine.js';
import { readAlerts } from './alert-records.js';
import { ALERT_STATES, type Alert, type AlertState } from './alert.js';

export type AlertFilter = {
  /** Null: everybody's. */
  readonly tenantId: string | null;
  /** Null: whatever their state. */
  readonly state: AlertState | null;
  readonly limit: number;
};

/** Newest first. */
export async function listAlerts(engine: Engine, { tenantId, state, limit }: AlertFilter): Promise<Alert[]> {
  if (state !== null && !ALERT_STATES.includes(state)) {
    throw new PawlError('INVALID_OPTION', {
      detail: `state is ${JSON.stringify(state)}, which is none of ${ALERT_STATES.join(', ')}`,
      details: { option: 'state' },
    });
  }
  const found: Alert[] = [];
  for (const { body } of await readAlerts(engine, tenantId)) {
    const { until: _until, state: own, ...alert } = body;
    if (own !== 'idle' && own === (state ?? own)) found.push({ ...alert, state: own });
  }
  return found
    .toSorted((a, b) => newness(b) - newness(a) || (a.alertId < b.alertId ? 1 : -1))
    .slice(0, limit);
}

function newness({ raisedAt, since }: Alert): number {
  return raisedAt ?? since;
}
