import { PawlError } from '../../errors.js';
import { CONTRACT_NAMES, type ContractName } from '../../contracts/index.js';
import type { Event, Timestamp } from '../../kernel/index.js';
import type { NewOutboxEntry, StoredRecord } from '../../ports/store.js';
import type { Engine } from '../engine.js';

/** Who wants to hear of a tenant's jobs, where, and in which vocabulary. */
export type Subscription = {
  readonly tenantId: string;
  readonly id: string;
  readonly url: string;
  readonly contract: ContractName;
  /** Only jobs of these tasks; null for all. */
  readonly tasks: readonly string[] | null;
  /** Signs every callback. Shown once, when the subscription is made. */
  readonly secret: string;
  readonly createdAt: Timestamp;
};

export type NewSubscription = Omit<Subscription, 'id' | 'secret' | 'createdAt' | 'tasks'> & {
  readonly tasks?: readonly string[];
};

const PAGE = 1_000;

export async function subscribe(engine: Engine, asked: NewSubscription): Promise<Subscription> {
  const { tenantId, url, contract, tasks = null } = asked;
  if (!CONTRACT_NAMES.includes(contract)) {
    throw new PawlError('INVALID_OPTION', {
      detail: `contract is ${JSON.stringify(contract)}, which is none of ${CONTRACT_NAMES.join(', ')}`,
      details: { option: 'contract' },
    });
  }
  await engine.courier.check(url);
  const bytes = Uint8Array.from({ length: 24 }, () => engine.random.int(256));
  const secret = `whsec_${Buffer.from(bytes).toString('base64')}`;
  const id = `sub_${engine.newId(0)}`;
  const subscription: Subscription = { tenantId, id, url, contract, tasks, secret, createdAt: engine.now() };
  const body = JSON.stringify(subscription);
  await engine.store.putRecord({ kind: 'subscription', tenantId, id, version: 1, body }, 0);
  await engine.subscriptions.refresh();
  return subscription;
}

export async function unsubscribe(
  engine: Engine,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<void> {
  const { deleted } = await engine.store.deleteRecord({ kind: 'subscription', tenantId, id });
  if (!deleted) throw new PawlError('SUBSCRIPTION_NOT_FOUND', { detail: `there is no subscription '${id}'` });
  await engine.subscriptions.refresh();
}

/** The tenant's subscriptions; null for everybody's. */
export async function listSubscriptions(engine: Engine, tenantId: string | null): Promise<Subscription[]> {
  const { records } = await engine.store.records({
    kind: 'subscription',
    tenantId,
    after: null,
    limit: PAGE,
  });
  return records.map(({ body }: StoredRecord) => JSON.parse(body) as Subscription);
}

/** How long this process may not have heard of a new subscription. */
const STALE_MS = 2_000;

/** Steps and effects move no contract's state, and nobody is called for them. */
const SILENT: ReadonlySet<Event['type']> = new Set([
  'step.recorded',
  'step.failed',
  'effect.closed',
  'effect.unknown',
  'checkpoint.saved',
  'child.started',
]);

/** The subscriptions as this process knows them: a commit looks here, and at no table. */
export class Subscriptions {
  readonly #engine: Engine;
  #byTenant: ReadonlyMap<string, readonly Subscription[]> = new Map();
  #freshUntil = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async refreshIfStale(): Promise<void> {
    if (this.#engine.clock.elapsed() >= this.#freshUntil) await this.refresh();
  }

  async refresh(): Promise<void> {
    this.#freshUntil = this.#engine.clock.elapsed() + STALE_MS;
    const all = await listSubscriptions(this.#engine, null);
    const byTenant = new Map<string, Subscription[]>();
    for (const one of all) byTenant.set(one.tenantId, [...(byTenant.get(one.tenantId) ?? []), one]);
    this.#byTenant = byTenant;
  }

  find(tenantId: string, id: string): Subscription | null {
    return this.#byTenant.get(tenantId)?.find((one) => one.id === id) ?? null;
  }

  /** The callbacks that a commit gives rise to; none, and at no cost, where nobody subscribed. */
  lettersFor(
    { tenantId, task, jobId }: { tenantId: string; task: string; jobId: string },
    { rev, events }: { rev: number; events: readonly Event[] },
  ): NewOutboxEntry[] {
    const interested = this.#byTenant.get(tenantId);
    if (interested === undefined || events.every(({ type }) => SILENT.has(type))) return [];
    const dueAt = this.#engine.now();
    return interested
      .filter(({ tasks }) => tasks?.includes(task) ?? true)
      .map(({ id }) => {
        const body: CallbackBody = { tenantId, subscriptionId: id, jobId, rev, at: dueAt };
        return {
          entryId: `${id}:${jobId}:${orderly(rev)}`,
          kind: 'callback',
          dueAt,
          body: JSON.stringify(body),
        };
      });
  }
}

/** Entries that fall due together are taken in the order of their ids. */
function orderly(rev: number): string {
  return `${rev}`.padStart(10, '0');
}

/** What an entry of the outbox says: which commit to tell of. What it means is worked out when it is sent. */
export type CallbackBody = {
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly jobId: string;
  readonly rev: number;
  readonly at: Timestamp;
};
