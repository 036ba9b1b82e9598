import { mayMoveSteps, type ContractName, type RunCallback } from '../../contracts/index.js';
import type { Event, Timestamp } from '../../kernel/index.js';
import type { Clock } from '../../ports/clock.js';
import type { NewOutboxEntry, Store } from '../../ports/store.js';
import type { AlertPayload } from '../alerts/alert.js';

/** `status`: changes of jobs. `step`: changes of their steps. `alert`: alerts that are raised or cleared. */
export const CALLBACK_EVENTS = ['status', 'step', 'alert'] as const;
export type CallbackEvents = (typeof CALLBACK_EVENTS)[number];

/** Who wants to hear of a tenant's jobs, where, and in which vocabulary. */
export type Subscription = {
  readonly tenantId: string;
  readonly id: string;
  readonly url: string;
  readonly contract: ContractName;
  readonly events: readonly CallbackEvents[];
  /** Only jobs of these tasks; null for all. Alerts are not held against it. */
  readonly tasks: readonly string[] | null;
  /** Signs every callback. Shown once, when the subscription is made. */
  readonly secret: string;
  readonly createdAt: Timestamp;
};

const PAGE = 1_000;

/** The tenant's subscriptions; null for everybody's. */
export async function listSubscriptions(store: Store, tenantId: string | null): Promise<Subscription[]> {
  const all: Subscription[] = [];
  for (let after: { tenantId: string; id: string } | null = null; ;) {
    const { records } = await store.records({ kind: 'subscription', tenantId, after, limit: PAGE });
    for (const { body } of records) all.push(JSON.parse(body) as Subscription);
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE) return all;
    after = { tenantId: last.tenantId, id: last.id };
  }
}

/** How long this process may not have heard of a new subscription. */
const STALE_MS = 2_000;

/** Steps and effects that move no contract's state: who asked for no more than that is not called for them. */
const SILENT: ReadonlySet<Event['type']> = new Set([
  'step.recorded',
  'step.failed',
  'effect.closed',
  'effect.unknown',
  'checkpoint.saved',
  'child.started',
]);
/** Effects that one contract alone has words for. */
const ONLY_GUARANTEES: ReadonlySet<Event['type']> = new Set([
  'effect.intended',
  'effect.recorded',
  'effect.reconciled',
]);

type Sources = { readonly store: Store; readonly clock: Clock; readonly now: () => Timestamp };

/** The subscriptions as this process knows them: a commit looks here, and at no table. */
export class Subscriptions {
  readonly #from: Sources;
  #byTenant: ReadonlyMap<string, readonly Subscription[]> = new Map();
  #freshUntil = 0;
  #refreshing: Promise<void> | null = null;

  constructor(from: Sources) {
    this.#from = from;
  }

  get isStale(): boolean {
    return this.#from.clock.elapsed() >= this.#freshUntil;
  }

  /** Once this process knows what there was when it asked. Those who ask meanwhile wait for the same answer. */
  async refreshIfStale(): Promise<void> {
    if (!this.isStale) return;
    this.#refreshing ??= this.refresh().finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  async refresh(): Promise<void> {
    const freshUntil = this.#from.clock.elapsed() + STALE_MS;
    const all = await listSubscriptions(this.#from.store, null);
    // Somebody has asked later, and was answered sooner.
    if (freshUntil < this.#freshUntil) return;
    const byTenant = new Map<string, Subscription[]>();
    for (const one of all) byTenant.set(one.tenantId, [...(byTenant.get(one.tenantId) ?? []), one]);
    this.#byTenant = byTenant;
    this.#freshUntil = freshUntil;
  }

  /** Null: there is none. One that this process has not heard of yet may be new, and is asked for. */
  async find(tenantId: string, id: string): Promise<Subscription | null> {
    const known = this.#byTenant.get(tenantId)?.find((one) => one.id === id);
    if (known !== undefined) return known;
    const { record } = await this.#from.store.record({ kind: 'subscription', tenantId, id });
    return record && (JSON.parse(record.body) as Subscription);
  }

  /** The callbacks that a commit gives rise to; none, and at no cost, where nobody subscribed. */
  lettersFor(
    { tenantId, task, jobId }: { tenantId: string; task: string; jobId: string },
    { rev, events }: { rev: number; events: readonly Event[] },
  ): NewOutboxEntry[] {
    const interested = this.#byTenant.get(tenantId);
    if (interested === undefined) return [];
    const telling = events.filter(({ type }) => !SILENT.has(type));
    const movesStatus = telling.some(({ type }) => !ONLY_GUARANTEES.has(type));
    const movesStep = events.some(mayMoveSteps);
    if (telling.length === 0 && !movesStep) return [];
    const dueAt = this.#from.now();
    return interested
      .filter(({ tasks }) => tasks?.includes(task) ?? true)
      .filter(({ events: wanted, contract }) => {
        const isTold = contract === 'guarantees' ? telling.length > 0 : movesStatus;
        return (isTold && wanted.includes('status')) || (movesStep && wanted.includes('step'));
      })
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

  /** The callbacks that tell of what was found out about a run: one contract alone has words for that. */
  findingLetters({ tenantId, task }: { tenantId: string; task: string }, run: RunCallback): NewOutboxEntry[] {
    const interested = this.#byTenant.get(tenantId) ?? [];
    const dueAt = this.#from.now();
    return interested
      .filter(({ contract, events }) => contract === 'run-state' && events.includes('status'))
      .filter(({ tasks }) => tasks?.includes(task) ?? true)
      .map(({ id }) => {
        const body: CallbackBody = { tenantId, subscriptionId: id, run, at: dueAt };
        // The version is beyond the last revision of the log, and so no commit's.
        const entryId = `${id}:${run.run_id}:${orderly(run.version)}`;
        return { entryId, kind: 'callback', dueAt, body: JSON.stringify(body) };
      });
  }

  /** The callbacks that tell of an alert. */
  alertLetters(alert: AlertPayload): NewOutboxEntry[] {
    const { tenant_id: tenantId, alert_id, event, cleared_at } = alert;
    const interested = this.#byTenant.get(tenantId)?.filter(({ events }) => events.includes('alert')) ?? [];
    const dueAt = this.#from.now();
    return interested.map(({ id }) => {
      const body: CallbackBody = { tenantId, subscriptionId: id, alert, at: dueAt };
      const order = cleared_at === null ? 1 : 2;
      return {
        entryId: `${id}:${alert_id}:${order}:${event}`,
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

/**
 * What an entry of the outbox says: which commit to tell of, whose meaning is worked out when it is sent; or an alert, or
 * what was found out about a run, which are small, and may be gone by then.
 */
export type CallbackBody = {
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly at: Timestamp;
} & (
  | { readonly jobId: string; readonly rev: number }
  | { readonly alert: AlertPayload }
  | { readonly run: RunCallback }
);
