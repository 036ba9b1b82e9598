import { PawlError } from '../../errors.js';
import { changesOf } from '../../kernel/index.js';
import type { OutboxEntry, OutboxOutcome } from '../../ports/store.js';
import type { Engine } from '../engine.js';
import { readLog } from '../read-log.js';
import { callbacksOf } from './payloads.js';
import { signed } from './sign.js';
import type { CallbackBody, Subscription } from './subscription-cache.js';

const PAGE = 100;
/** Longer than a lane takes for what waits in it; entries whose bearer died are taken again after it. */
const LEASE_MS = 120_000;
const FIRST_BACKOFF_MS = 5_000;
const MOST_BACKOFF_MS = 3_600_000;
/** After this an entry is given up, and stays for an operator to see and send again. */
const GIVE_UP_AFTER_MS = 3 * 86_400_000;
/** Entries that wait in one lane. Those beyond go back for a moment, so that a slow receiver fills no memory. */
const MOST_WAITING = 200;
const FULL_MS = 2_000;

/** What became of one attempt. The receiver has no part in it where the job cannot be read, and hears of the others. */
type Attempt = 'delivered' | 'refused' | 'unreadable';

/** What is to be brought to one receiver, one after the other. */
type Lane = {
  readonly waiting: OutboxEntry[];
  readonly known: Set<string>;
  running: Promise<void> | null;
  /** In a row. After one nothing is tried before `failedUntil`. */
  failures: number;
  failedUntil: number;
};

/**
 * Delivers callbacks. Each subscription has a lane of its own, which runs beside the loop and keeps the order: a receiver
 * that is dead or slow holds up nobody but itself.
 */
export class CallbackDelivery {
  readonly #engine: Engine;
  readonly #lanes = new Map<string, Lane>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async pass(): Promise<boolean> {
    await this.#engine.subscriptions.refreshIfStale();
    const { entries } = await this.#engine.store.takeOutbox({
      kind: 'callback',
      limit: PAGE,
      leaseMs: LEASE_MS,
    });
    const later: OutboxOutcome[] = [];
    for (const entry of entries) {
      const { subscriptionId } = JSON.parse(entry.body) as CallbackBody;
      const lane = this.#laneOf(subscriptionId);
      const now = this.#engine.now();
      if (lane.failedUntil > now) later.push(again(entry, lane.failedUntil));
      else if (lane.waiting.length >= MOST_WAITING) later.push(again(entry, now + FULL_MS));
      else if (!lane.known.has(entry.entryId)) {
        lane.known.add(entry.entryId);
        lane.waiting.push(entry);
        lane.running ??= this.#run(subscriptionId, lane);
      }
    }
    if (later.length > 0) await this.#settle(later);
    return entries.length === PAGE;
  }

  /** Lets go of what is not under way. Another worker takes it when its lease is over. */
  stop(): void {
    for (const lane of this.#lanes.values()) lane.waiting.length = 0;
  }

  #laneOf(subscriptionId: string): Lane {
    const lane = this.#lanes.get(subscriptionId) ?? {
      waiting: [],
      known: new Set<string>(),
      running: null,
      failures: 0,
      failedUntil: 0,
    };
    this.#lanes.set(subscriptionId, lane);
    return lane;
  }

  async #run(subscriptionId: string, lane: Lane): Promise<void> {
    try {
      for (let entry = lane.waiting.shift(); entry !== undefined; entry = lane.waiting.shift()) {
        await this.#settle(this.#outcomesOf(lane, entry, await this.#deliver(entry)));
        lane.known.delete(entry.entryId);
      }
    } catch (error) {
      this.#engine.log.warn('callbacks could not be settled', { subscriptionId, error });
    } finally {
      lane.known.clear();
      lane.running = null;
      if (lane.failures === 0 && lane.waiting.length === 0) this.#lanes.delete(subscriptionId);
    }
  }

  #outcomesOf(lane: Lane, entry: OutboxEntry, attempt: Attempt): OutboxOutcome[] {
    const now = this.#engine.now();
    const { entryId } = entry;
    if (attempt === 'delivered') {
      lane.failures = 0;
      return [{ entryId, outcome: 'done' }];
    }
    const hopeless = now - (JSON.parse(entry.body) as CallbackBody).at > GIVE_UP_AFTER_MS;
    const orDead = (dueAt: number): OutboxOutcome =>
      hopeless ? { entryId, outcome: 'dead' } : again(entry, dueAt);
    if (attempt === 'unreadable') return [orDead(now + backoffMs(entry.tries))];
    // What is behind it would most likely fail too: all of it waits, and keeps its order.
    lane.failures += 1;
    lane.failedUntil = now + backoffMs(lane.failures);
    return [orDead(lane.failedUntil), ...lane.waiting.splice(0).map((one) => again(one, lane.failedUntil))];
  }

  async #settle(outcomes: readonly OutboxOutcome[]): Promise<void> {
    await this.#engine.store.settleOutbox(outcomes);
    for (const one of outcomes) {
      if (one.outcome === 'again') this.#engine.bells.callbacks.ringAt(one.dueAt, this.#engine.now());
    }
  }

  async #deliver(entry: OutboxEntry): Promise<Attempt> {
    const body = JSON.parse(entry.body) as CallbackBody;
    const { tenantId, subscriptionId } = body;
    const { jobId, tries } = entry;
    try {
      const subscription = await this.#engine.subscriptions.find(tenantId, subscriptionId);
      // Nobody wants to hear of it any more.
      if (subscription === null) return 'delivered';
      const payloads = await this.#payloads(subscription, body);
      for (const [index, payload] of payloads.entries()) {
        await this.#post(subscription, `${entry.entryId}:${index}`, payload);
      }
      return 'delivered';
    } catch (error) {
      if (error instanceof Unreadable) {
        this.#engine.log.warn('a callback waits: the log of its job cannot be read', {
          subscriptionId,
          jobId,
          tries,
          error: error.cause,
        });
        return 'unreadable';
      }
      this.#engine.log.info('a callback was not delivered', { subscriptionId, jobId, tries, error });
      return 'refused';
    }
  }

  async #payloads(subscription: Subscription, body: CallbackBody): Promise<readonly unknown[]> {
    if ('alert' in body) return [body.alert];
    if ('run' in body) return [body.run];
    try {
      return callbacksOf(subscription, changesOf(await readLog(this.#engine.store, body.jobId)), body.rev);
    } catch (error) {
      // A store that fails says nothing about the job.
      throw error instanceof PawlError ? error : new Unreadable(error);
    }
  }

  async #post({ url, secret }: Subscription, id: string, payload: unknown): Promise<void> {
    const body = JSON.stringify(payload);
    const headers = signed({ id, atMs: this.#engine.now(), body }, secret);
    const { status } = await this.#engine.courier.deliver({ url, headers, body });
    if (status < 200 || status > 299) throw new Error(`the receiver answered ${status}`);
  }
}

/** Its log is damaged, or of a later release. */
class Unreadable extends Error {
  constructor(cause: unknown) {
    super('the log of a job cannot be read', { cause });
  }
}

function again({ entryId }: OutboxEntry, dueAt: number): OutboxOutcome {
  return { entryId, outcome: 'again', dueAt };
}

function backoffMs(failures: number): number {
  return Math.min(MOST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 12));
}
