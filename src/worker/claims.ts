import type { Job } from '../kernel/index.js';
import type { Engine } from '../engine/engine.js';
import type { Head } from '../ports/store.js';
import { claimDecision } from './claim-decision.js';
import type { Lanes } from './lanes.js';
import type { LeaseKeeper } from './lease-keeper.js';
import { attemptName } from './names.js';

/** Jobs are claimed in batches of at most this many: more would only hold up those that came first. */
const MOST_CLAIMED = 500;
/** While there is more than that to do, and the store says early what a claim gets, so many are under way, each of its share. */
const MOST_UNDER_WAY = 2;

/** Jobs that claims step over. Of more than these, those that are due first are in the way of others. */
const MOST_LEFT = 1_000;
/** For how long one is stepped over: elsewhere it may have gone on, and be a suspect no longer. */
const LEFT_MS = 10_000;

export type ClaimsOptions = {
  readonly lanes: Lanes;
  readonly keeper: LeaseKeeper;
  /** How many more jobs the worker may run. */
  readonly room: () => number;
  /** It runs a job that may take its process down. */
  readonly hasSuspect: () => boolean;
  /** Jobs that it cannot read, and leaves to others. */
  readonly unread: () => readonly string[];
  readonly run: (job: Job, head: Head | undefined) => void;
};

/** How a worker comes by its jobs. */
export class Claims {
  readonly #engine: Engine;
  readonly #options: ClaimsOptions;
  /** What the claims under way may bring. */
  readonly #underWay = new Map<Promise<void>, number>();
  /** Why one failed that the next did not wait for. */
  #failure: { readonly reason: unknown } | null = null;
  /** All since one whose store said early what it gets have been full: the next need not wait for the one before it. */
  #isFlowing = false;
  /** A round came to nothing because of those under way. */
  #isRefused = false;
  #afterTenant = '';
  /** Suspects that were left since it has run one, and until when they are. */
  readonly #left = new Map<string, number>();
  #named = 0;
  #isHungry = false;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine, options: ClaimsOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** The last one left work behind, for want of room or because of what runs. */
  get isHungry(): boolean {
    return this.#isHungry;
  }

  /** When the store last answered one, by this process's clock. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** One claim; true if the next may follow at once, which it may while a large one is still being written. */
  async next(): Promise<boolean> {
    this.#tellFailure();
    const limit = Math.min(this.#room(), MOST_CLAIMED / (this.#isFlowing ? MOST_UNDER_WAY : 1));
    this.#isHungry = limit <= 0 || this.#underWay.size >= MOST_UNDER_WAY;
    this.#isRefused = this.#isHungry && this.#underWay.size > 0;
    if (this.#isHungry || !this.#options.keeper.isValid()) return false;
    return new Promise((resolve, reject) => {
      let isWaitedFor = true;
      const claimed = this.#claim(limit, () => {
        isWaitedFor = false;
        resolve(true);
      }).then(
        (more) => {
          this.#end(claimed, { ring: more && !isWaitedFor });
          resolve(more);
        },
        (reason: unknown) => {
          this.#isFlowing = false;
          if (!isWaitedFor) this.#failure = { reason };
          this.#end(claimed, { ring: !isWaitedFor });
          reject(reason);
        },
      );
      this.#underWay.set(claimed, limit);
    });
  }

  /** Once none is under way. If one has failed by then, no other round tells of it. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay.keys());
    if (this.#failure !== null) this.#engine.log.warn('a claim failed', { error: this.#failure.reason });
  }

  #end(claimed: Promise<void>, { ring }: { ring: boolean }): void {
    this.#underWay.delete(claimed);
    if (ring || this.#isRefused) this.#engine.bells.claims.ring();
    this.#isRefused = false;
  }

  #room(): number {
    let reserved = 0;
    for (const limit of this.#underWay.values()) reserved += limit;
    return this.#options.room() - reserved;
  }

  #tellFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.reason;
  }

  /** True if there is more, and room for it. `letGo`: called if the next claim need not wait for this one. */
  async #claim(limit: number, letGo: () => void): Promise<boolean> {
    const engine = this.#engine;
    const { lanes, keeper, run } = this.#options;
    const { worker } = keeper;
    const runsSuspect = this.#options.hasSuspect();
    // Another that is under way may bring one.
    const others = [...this.#underWay.keys()];
    const hasSuspect = runsSuspect || others.length > 0;
    const elapsed = engine.clock.elapsed();
    for (const [jobId, until] of this.#left) if (!hasSuspect || until <= elapsed) this.#left.delete(jobId);
    const decision = claimDecision(engine, {
      worker,
      hasSuspect,
      nextAttemptId: () => attemptName(worker, (this.#named += 1)),
    });
    const isFlowing = this.#isFlowing;
    let isKnownEarly = false;
    const { alive, jobs, decided, lastTenant, rateFreeAt } = await engine.store.claim({
      worker,
      lanes: lanes.all,
      limit,
      afterTenant: this.#afterTenant,
      hasSuspect,
      except: [...this.#options.unread(), ...this.#left.keys()].slice(0, MOST_LEFT),
      decide: decision.decide,
      picked: (tenant) => {
        isKnownEarly = true;
        if (!isFlowing) return;
        this.#afterTenant = tenant;
        letGo();
      },
    });
    this.#answeredAt = engine.clock.elapsed();
    if (!alive) {
      await keeper.lost(worker.incarnation, 'its lease had run out');
      return true;
    }
    // Claimed by an incarnation that has died meanwhile: they are found like everything that it held.
    if (worker.incarnation !== keeper.worker.incarnation) return true;
    if (!isFlowing || !isKnownEarly) this.#afterTenant = lastTenant;
    for (const [index, job] of jobs.entries()) {
      run(job, decided?.heads[index] ?? decision.headOf(job.spec.jobId));
    }
    if (rateFreeAt !== undefined) engine.bells.claims.ringAt(rateFreeAt, engine.now());
    const isFull = jobs.length === limit;
    const wereLeft = this.#left.size;
    for (const jobId of decided?.leftSuspects ?? decision.leftSuspects())
      if (this.#left.size < MOST_LEFT) this.#left.set(jobId, elapsed + LEFT_MS);
    this.#isFlowing = isFull && (isKnownEarly || isFlowing);
    this.#isHungry = isFull || this.#left.size > 0;
    // Left because of another claim, not of what runs: that is over in a moment, unless its store has gone silent.
    if (this.#left.size > 0 && hasSuspect && !runsSuspect) {
      void Promise.all(others).then(() => engine.bells.claims.ring());
    }
    // Behind those that it leaves from now on there may be others.
    const leavesMore = this.#left.size > wereLeft && this.#options.hasSuspect();
    return (isFull || leavesMore) && this.#options.room() > 0;
  }
}
