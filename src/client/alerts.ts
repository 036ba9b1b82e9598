import { listAlerts, type AlertFilter } from '../engine/alerts/list-alerts.js';
import type { Alert } from '../engine/alerts/alert.js';
import type { Engine } from '../engine/engine.js';

/** What a person should look at. */
export class Alerts {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Newest first: those that are raised, unless told otherwise. Null stands for every state, and for every tenant. */
  list({ tenantId = null, state = 'raised', limit = 100 }: Partial<AlertFilter> = {}): Promise<Alert[]> {
    return listAlerts(this.#engine, { tenantId, state, limit });
  }
}
