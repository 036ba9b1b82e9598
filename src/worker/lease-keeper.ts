import { BUCKETS, LEASE_RENEWAL_SHARE, newJobId, type Job, type WorkerRef } from '../kernel/index.js';
import { PawlError } from '../errors.js';
import { Bell } from '../engine/bell.js';
import type { Engine } from '../engine/engine.js';
import { repeat } from '../engine/repeat.js';
import type { BeatReply } from '../ports/store.js';

export type LeaseKeeperOptions = {
  /** Set by the application, or drawn. Two processes must never share one. */
  readonly workerId: string | null;
  readonly namedUnder: string;
  readonly leaseMs: number;
  readonly lanes: readonly string[];
  /** Called before the store is asked. What it returns gets what the store says that this worker holds. */
  readonly onBeat: () => (held: BeatReply['held']) => void;
  /** Everything that this incarnation held is lost. */
  readonly onLost: (reason: string) => void;
  /** Another process uses the same id: this one must stop. */
  readonly onReplaced: (error: PawlError) => void;
};

/** A heartbeat that is not answered for so long means an outage. Shorter takes a busy store for one; longer than the alert's five seconds makes that late. */
const SILENT_MS = 5_000;

/**
 * Every row of the log names its worker two or three times, so names are no longer than it takes for nobody to have the same: a drawn one
 * has sixty bits of chance; a life of a worker its millisecond and, for two of one name that begin in the same, thirty.
 */
const NAME_LENGTH = 12;
const BIRTH_LENGTH = 16;

/**
 * Keeps the lease of a worker. It counts its time from the SENDING of each renewal that was confirmed, so it gives up
 * before the store does. It runs on the handlers' own event loop: a loop that stalls must lose its lease.
 */
export class LeaseKeeper {
  readonly #engine: Engine;
  readonly #options: LeaseKeeperOptions;
  readonly #id: string;
  readonly #bell: Bell;
  #bornAt = 0;
  #incarnation: string;
  #validUntil = 0;
  #cancelExpiry: (() => void) | null = null;
  #loop: { stop(): Promise<void> } | null = null;
  #stopped = false;

  constructor(engine: Engine, options: LeaseKeeperOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#id = `${options.namedUnder}${options.workerId ?? `w-${engine.newId(0).slice(-NAME_LENGTH)}`}`;
    this.#bell = new Bell(engine.alarms);
    this.#incarnation = this.#newIncarnation();
  }

  get worker(): WorkerRef {
    return { id: this.#id, incarnation: this.#incarnation };
  }

  /** By our own count, which is never more generous than the store's. */
  readonly isValid = (): boolean => this.#engine.clock.elapsed() < this.#validUntil;

  /** Is a job that was claimed here still ours, by our own count? */
  holds({ worker }: Pick<Job, 'worker'>): boolean {
    return this.isValid() && worker?.incarnation === this.#incarnation;
  }

  /** Registers this worker; from then on its lease is kept. */
  async start(): Promise<void> {
    await this.#beat();
    if (this.#stopped) return;
    const { leaseMs } = this.#options;
    this.#loop = repeat(this.#engine, {
      name: 'the heartbeat',
      bell: this.#bell,
      everyMs: leaseMs * LEASE_RENEWAL_SHARE,
      pass: async () => {
        await this.#beat();
        return false;
      },
    });
  }

  /** At once: something happened to a job that this worker may hold. */
  beatNow(): void {
    this.#bell.ring();
  }

  /** The store says that an incarnation is dead. One that was given up before is no news. */
  async lost(incarnation: string, reason: string): Promise<void> {
    if (this.#stopped || incarnation !== this.#incarnation) return;
    this.#validUntil = 0;
    this.#cancelExpiry?.();
    this.#options.onLost(reason);
    const replaced = await this.#replacedBy();
    if (replaced) {
      this.#options.onReplaced(replaced);
      return;
    }
    this.#renew();
  }

  /** From now on its lease is over. Waits for the last renewal, which the store may still be working on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelExpiry?.();
    this.#validUntil = 0;
    await this.#loop?.stop();
  }

  /** Once it has stopped: others need not wait for the end of its lease to know. If the store does not hear of it, they do. */
  async resign(): Promise<void> {
    await this.#engine.store.resign(this.worker).catch(() => undefined);
  }

  async #beat(): Promise<void> {
    const { leaseMs, lanes, onBeat } = this.#options;
    const sentAt = this.#engine.clock.elapsed();
    const compare = onBeat();
    const { incarnation } = this.worker;
    const { alive, held } = await this.#watch(
      this.#engine.store.beat({ worker: this.worker, leaseMs, lanes }),
    );
    if (this.#stopped || incarnation !== this.#incarnation) return;
    if (!alive) {
      await this.lost(incarnation, 'its lease had run out');
      return;
    }
    this.#validUntil = sentAt + leaseMs;
    this.#cancelExpiry?.();
    this.#cancelExpiry = this.#engine.alarms.set(this.#validUntil - this.#engine.clock.elapsed(), () =>
      this.#ranOut(),
    );
    compare(held);
  }

  /** A heartbeat is answered at once, or the store cannot be used: nobody need wait for an error to know that. */
  async #watch<T>(beat: Promise<T>): Promise<T> {
    const { alarms, storeHealth } = this.#engine;
    const cancel = alarms.set(SILENT_MS, () => storeHealth.silent('beat', SILENT_MS));
    try {
      return await beat;
    } finally {
      cancel();
    }
  }

  /**
   * By our own count the lease is over. Even if the store would still renew it, what was held is lost, and intents may
   * have been saved whose bodies nobody will enter: only with a new incarnation do others know not to wait for them.
   */
  #ranOut(): void {
    const { leaseMs } = this.#options;
    const look = 'the store or the way to it is silent, or this process was held up: look at both';
    this.#engine.log.warn('the lease of this worker ran out', { workerId: this.#id, leaseMs, look });
    this.#options.onLost('its lease could not be renewed in time');
    this.#renew();
  }

  #renew(): void {
    this.#incarnation = this.#newIncarnation();
    this.#bell.ring();
  }

  /** Only an id that was set can be somebody else's too. */
  async #replacedBy(): Promise<PawlError | null> {
    if (this.#options.workerId === null) return null;
    const { workers } = await this.#engine.store.workers({ incarnations: null });
    const later = workers.find(
      ({ worker }) => worker.id === this.#id && worker.incarnation > this.#incarnation,
    );
    if (later === undefined) return null;
    return new PawlError('WORKER_ID_IN_USE', { detail: `another process works as '${this.#id}'` });
  }

  /** Sorts after all before it, also those of the same millisecond: else this worker would take them for its successors. */
  #newIncarnation(): string {
    this.#bornAt = Math.max(this.#engine.now(), this.#bornAt + 1);
    const draw = (below: number): number => this.#engine.random.int(below);
    const born = newJobId({ now: this.#bornAt, bucket: draw(BUCKETS), draw });
    return `${this.#id}.${born.slice(0, BIRTH_LENGTH)}`;
  }
}
