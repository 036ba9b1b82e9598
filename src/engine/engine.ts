import { laneOf, newJobId, type Job, type Timestamp } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import type { Courier } from '../ports/courier.js';
import type { Logger } from '../ports/logger.js';
import type { Random } from '../ports/random.js';
import type { NewOutboxEntry, Store } from '../ports/store.js';
import { readAlertOptions, type AlertOptions } from './alerts/alert-options.js';
import { Refusals } from './alerts/transition-refused.js';
import { Subscriptions } from './callbacks/subscription-cache.js';
import { Alarms } from './alarms.js';
import { Bell } from './bell.js';
import { Endings } from './endings.js';
import { JobHistories } from './job-histories.js';
import { Meters } from './meters.js';
import { StoreCalls } from './store-calls.js';
import { StoreHealth } from './store-health.js';
import { StoreTime } from './store-time.js';

export type EngineParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly courier: Courier;
  /** The defaults, unless told otherwise. */
  readonly alerts?: AlertOptions;
};

/** What every operation of the engine stands on: the store and its time, chance, and news within this process. */
export class Engine {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly courier: Courier;
  readonly subscriptions: Subscriptions;
  readonly alarms: Alarms;
  readonly alerts: AlertOptions;
  readonly refusals = new Refusals();
  readonly storeHealth: StoreHealth;
  readonly storeCalls = new StoreCalls();
  readonly now: () => Timestamp;
  readonly endings = new Endings();
  readonly histories: JobHistories;
  readonly meters = new Meters();
  /** Rung when jobs may be claimable, waits or schedules due, or the outbox filled. */
  readonly bells: Readonly<Record<'claims' | 'timers' | 'outbox' | 'schedules' | 'callbacks', Bell>>;
  readonly #name: string;
  #commands = 0;

  constructor({ store, clock, random, log, courier, alerts = readAlertOptions({}) }: EngineParts) {
    const time = new StoreTime(clock);
    this.now = time.now;
    this.storeHealth = new StoreHealth({ log, now: time.now });
    this.store = time.timed(store, this.storeHealth, this.storeCalls);
    this.histories = new JobHistories(this.store);
    this.alerts = alerts;
    this.clock = clock;
    this.random = random;
    this.log = log;
    this.courier = courier;
    this.alarms = new Alarms(clock);
    this.subscriptions = new Subscriptions({ store: this.store, clock, now: this.now });
    this.bells = {
      claims: new Bell(this.alarms),
      timers: new Bell(this.alarms),
      outbox: new Bell(this.alarms),
      schedules: new Bell(this.alarms),
      callbacks: new Bell(this.alarms),
    };
    this.#name = this.newId(0);
  }

  /** Names a commit, for ever: sent again, it gets its first answer. */
  nextCommandId(): string {
    this.#commands += 1;
    return `${this.#name}:${this.#commands}`;
  }

  /** A time-ordered id that nobody else has. */
  newId(bucket: number): string {
    return newJobId({ now: this.now(), bucket, draw: (below) => this.random.int(below) });
  }

  /** Rings for what a commit put into the outbox. */
  announceMail(outbox: readonly NewOutboxEntry[]): void {
    for (const { kind } of outbox) (kind === 'child' ? this.bells.outbox : this.bells.callbacks).ring();
  }

  /** Tells this process, and the others unless they have been told, what a commit of a job means for them. */
  announce(job: Job, { told = false }: { told?: boolean | undefined } = {}): void {
    if (job.finishedAt !== null) this.endings.tell(job);
    switch (job.status) {
      case 'queued':
      case 'unblocked':
      case 'interrupted':
        this.bells.claims.ring();
        if (!told) this.store.wake([laneOf(job.spec)]);
        return;
      case 'scheduled':
        this.bells.claims.ringAt(job.spec.scheduledAt, this.now());
        return;
      case 'retrying':
        this.bells.claims.ringAt(job.nextRetryAt ?? 0, this.now());
        return;
      case 'waiting':
        for (const { expiresAt } of job.waits) {
          if (expiresAt !== null) this.bells.timers.ringAt(expiresAt, this.now());
        }
        return;
      default:
        return;
    }
  }
}
