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
import * as is from '../engine/option-checks.js';
import { invalidOption, Options, shown } from '../engine/options.js';
import type { OutboxEntry } from '../ports/store.js';
import { IN_TENANT, OF_TENANT, type InTenant, type OfTenant } from './by-and-tenant.js';

export type SubscribeOptions = {
  readonly url: string;
  readonly contract?: ContractName;
  readonly events?: readonly CallbackEvents[];
  readonly tenantId?: string;
  readonly tasks?: readonly string[];
};
type DeadOptions = OfTenant & { readonly limit?: number };

const SUBSCRIBE = new Options<SubscribeOptions>({
  url: is.required(is.elsewhere),
  contract: is.elsewhere,
  events: is.elsewhere,
  tenantId: is.text,
  tasks: is.listOf(is.text, 'names of tasks'),
});
const ids = is.required(is.listOf(is.text, 'ids'));
const DEAD = new Options<DeadOptions>({ tenantId: is.orNull(is.text), limit: is.whole(1) });

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
  async subscribe(options: SubscribeOptions): Promise<Subscription> {
    SUBSCRIBE.expect(options, 'subscribe()');
    const { tenantId = DEFAULT_TENANT, contract = 'run-state', events = ['status'], ...rest } = options;
    return subscribe(this.#engine, { ...rest, tenantId, contract, events });
  }

  async unsubscribe(id: string, options: InTenant = {}): Promise<void> {
    IN_TENANT.expect(options, 'unsubscribe()');
    await unsubscribe(this.#engine, { tenantId: options.tenantId ?? DEFAULT_TENANT, id });
  }

  /** Without their secrets. */
  async list(options: OfTenant = {}): Promise<Omit<Subscription, 'secret'>[]> {
    OF_TENANT.expect(options, 'callbacks.list()');
    const all = await listSubscriptions(this.#engine.store, options.tenantId ?? null);
    return all.map(({ secret: _secret, ...rest }) => rest);
  }

  /** Callbacks that were given up. */
  async dead(options: DeadOptions = {}): Promise<OutboxEntry[]> {
    DEAD.expect(options, 'callbacks.dead()');
    const { tenantId = null, limit = 100 } = options;
    return deadCallbacks(this.#engine, { tenantId, limit });
  }

  /** Sends callbacks again that were given up. Answers how many of them had been. */
  async redrive(entryIds: readonly string[], options: OfTenant = {}): Promise<number> {
    OF_TENANT.expect(options, 'redrive()');
    if (ids(entryIds) !== null)
      throw invalidOption('entryIds', `redrive() got ${shown(entryIds)}, which is no list of ids`);
    return redriveCallbacks(this.#engine, entryIds, { tenantId: options.tenantId ?? null });
  }
}
