import type { ContractName } from '../contracts/index.js';
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
   * From now on, within two seconds, `url` hears of every change, signed with the secret in the answer; of alerts too, or
   * instead, where `events` says so.
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

  /** Callbacks that were given up, oldest first. */
  async dead({ limit = 100 }: { limit?: number } = {}): Promise<readonly OutboxEntry[]> {
    return (await this.#engine.store.deadOutbox({ kind: 'callback', limit })).entries;
  }

  /** Sends callbacks again that were given up. */
  async redrive(entryIds: readonly string[]): Promise<void> {
    const dueAt = this.#engine.now();
    await this.#engine.store.settleOutbox(
      entryIds.map((entryId) => ({ entryId, outcome: 'again' as const, dueAt })),
    );
    this.#engine.bells.callbacks.ring();
  }
}
