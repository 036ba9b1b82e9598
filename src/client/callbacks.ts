import type { ContractName } from '../contracts/index.js';
import { deadCallbacks, redriveCallbacks } from '../engine/callbacks/dead.js';
import {
  listSubscriptions,
  type CallbackEvents,
  type Subscription,
} from '../engine/callbacks/subscription-cache.js';
import { subscribe, unsubscribe } from '../engine/callbacks/subscription.js';
import type { Engine } from '../engine/engine.js';
import { DEFAULT_TENANT } from '../engine/new-job.js';
import type { OutboxEntry } from '../ports/store.js';

/** Callbacks to other systems. */
export class Callbacks {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * From now on, within two seconds, `url` hears of every change, signed with the secret in the answer; of steps and alerts
   * too, or instead, where `events` says so.
   */
  subscribe({
    tenantId = DEFAULT_TENANT,
    contract = 'run-state',
    events = ['status'],
    ...rest
  }: {
    url: string;
    contract?: ContractName;
    events?: readonly CallbackEvents[];
    tenantId?: string;
    tasks?: readonly string[];
  }): Promise<Subscription> {
    return subscribe(this.#engine, { ...rest, tenantId, contract, events });
  }

  unsubscribe(id: string, { tenantId = DEFAULT_TENANT }: { tenantId?: string } = {}): Promise<void> {
    return unsubscribe(this.#engine, { tenantId, id });
  }

  /** Without their secrets. */
  async list({ tenantId = null }: { tenantId?: string | null } = {}): Promise<
    Omit<Subscription, 'secret'>[]
  > {
    return (await listSubscriptions(this.#engine.store, tenantId)).map(
      ({ secret: _secret, ...shown }) => shown,
    );
  }

  /** Callbacks that were given up. */
  dead({ tenantId = null, limit = 100 }: { tenantId?: string | null; limit?: number } = {}): Promise<
    OutboxEntry[]
  > {
    return deadCallbacks(this.#engine, { tenantId, limit });
  }

  /** Sends callbacks again that were given up. Answers how many of them had been. */
  redrive(
    entryIds: readonly string[],
    { tenantId = null }: { tenantId?: string | null } = {},
  ): Promise<number> {
    return redriveCallbacks(this.#engine, entryIds, { tenantId });
  }
}
