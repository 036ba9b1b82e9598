import type { Job } from '../kernel/index.js';
import type { Engine } from '../engine/engine.js';
import type { Head } from '../ports/store.js';
import { claimDecision } from './claim-decision.js';
import type { Lanes } from './lanes.js';
import type { LeaseKeeper } from './lease-keeper.js';
import { attemptName } from './names.js';

/** Jobs are claimed in batches of at most this many: more would only hold up those that came first. */
const MOST_CLAIMED = 250;
/** So many claims are under way at once: while a store writes one, the next is looked for and decided on. */
const MOST_UNDER_WAY = 2;

export type ClaimsOptions = {
  readonly lanes: Lanes;
  readonly keeper: LeaseKeeper;
  /** How many more jobs the worker may run. */
  readonly room: () => number;
  /** It runs a job that may take its process down. */
  readonly hasSuspect: () => boolean;
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
  #afterTenant = '';
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
    const limit = Math.min(this.#room(), MOST_CLAIMED);
    this.#isHungry = limit <= 0 || this.#underWay.size >= MOST_UNDER_WAY;
    if (this.#isHungry || !this.#options.keeper.isValid()) return false;
    return new Promise((resolve, reject) => {
      let isAlone = true;
      const claimed = this.#claim(limit, () => {
        isAlone = false;
        resolve(true);
      }).then(
        (more) => {
          this.#underWay.delete(claimed);
          if (!isAlone && (more || this.#isHungry)) this.#engine.bells.claims.ring();
          resolve(more);
        },
        (reason: unknown) => {
          this.#underWay.delete(claimed);
          if (isAlone) return reject(reason);
          this.#failure = { reason };
          this.#engine.bells.claims.ring();
        },
      );
      this.#underWay.set(claimed, limit);
    });
  }

  /** Once none is under way. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay.keys());
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
    // One that is still under way may bring one.
    const hasSuspect = this.#options.hasSuspect() || this.#underWay.size > 0;
    const decision = claimDecision(engine, {
      worker,
      hasSuspect,
      nextAttemptId: () => attemptName(worker, (this.#named += 1)),
    });
    let isLast = true;
    const { alive, jobs, decided, lastTenant, rateFreeAt } = await engine.store.claim({
      worker,
      lanes: lanes.all,
      limit,
      afterTenant: this.#afterTenant,
      hasSuspect,
      decide: decision.decide,
      picked: (tenant) => {
        isLast = false;
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
    if (isLast) this.#afterTenant = lastTenant;
    for (const [index, job] of jobs.entries()) {
      run(job, decided?.heads[index] ?? decision.headOf(job.spec.jobId));
    }
    if (rateFreeAt !== undefined) engine.bells.claims.ringAt(rateFreeAt, engine.now());
    const isFull = jobs.length === limit;
    this.#isHungry = isFull || (decided?.leftSuspect ?? decision.leftSuspect());
    return isFull && this.#options.room() > 0;
  }
}
