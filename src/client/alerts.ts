import { listAlerts, type AlertFilter } from '../engine/alerts/list-alerts.js';
import type { Alert } from '../engine/alerts/alert.js';
import type { Engine } from '../engine/engine.js';
import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';

const LIST = new Options<AlertFilter>({
  tenantId: is.orNull(is.text),
  state: is.elsewhere,
  limit: is.whole(1),
});

/** What a person should look at. */
export class Alerts {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Newest first: those that are raised, unless told otherwise. Null stands for every state, and for every tenant. */
  async list(options: Partial<AlertFilter> = {}): Promise<Alert[]> {
    LIST.expect(options, 'alerts.list()');
    const { tenantId = null, state = 'raised', limit = 100 } = options;
    return listAlerts(this.#engine, { tenantId, state, limit });
  }
}
