import type { Engine } from '../../engine/engine.js';
import type { Stoppable } from '../../engine/repeat.js';
import type { Retention } from '../../engine/retention.js';
import { startUpkeep } from '../../engine/upkeep.js';
import { PawlError, type ErrorCode } from '../../errors.js';
import { holderLane, laneOf, type Job } from '../../kernel/index.js';
import type { CommitReply } from '../../ports/store.js';
import type { Caller } from '../route.js';
import { decideAgain, type AskedCommit, type Decided } from './decide-again.js';
import { HeadCache } from './head-cache.js';
import { WakeHub } from './wake-hub.js';

/** What became of one commit. `error`: it was refused for what it says, and will be for ever. */
export type CommitAnswer =
  | CommitReply
  | { readonly error: { readonly code: ErrorCode; readonly message: string } };

const POLL_MS = 1_000;
const MOST_LEASE_MS = 30_000;

/** What a server keeps for the workers that reach their store through it. */
export class WorkerDesk {
  readonly engine: Engine;
  readonly heads: HeadCache;
  readonly wakeUps: WakeHub;
  readonly #seesToUpkeep: () => boolean;
  readonly #retention: Retention | null;
  #upkeep: Stoppable | null = null;

  /** `seesToUpkeep`: whether remote workers have to rely on this server for it, for want of a worker beside it. `retention` is part of it. */
  constructor(
    engine: Engine,
    { seesToUpkeep, retention }: { seesToUpkeep: () => boolean; retention: Retention | null },
  ) {
    this.engine = engine;
    this.heads = new HeadCache(() => engine.clock.elapsed());
    this.wakeUps = new WakeHub(engine);
    this.#seesToUpkeep = seesToUpkeep;
    this.#retention = retention;
  }

  /** Decides on all, saves what stands together, and answers for each. */
  async commit(asked: readonly AskedCommit[], caller: Caller): Promise<readonly CommitAnswer[]> {
    await this.engine.subscriptions.refreshIfStale();
    const decided = await Promise.all(asked.map((one) => this.#decide(one, caller)));
    const items = decided.flatMap((one) => ('item' in one ? [one.item] : []));
    const { replies, told } =
      items.length > 0 ? await this.engine.store.commit(items) : { replies: [], told: undefined };
    let next = 0;
    return decided.map((one) => {
      if (!('item' in one)) return 'reply' in one ? one.reply : one;
      const reply = replies[next++] as CommitReply;
      if (reply.ok) this.#saved(one, { repeated: reply.repeated, told });
      return reply;
    });
  }

  /** A remote worker lives: from now on somebody has to see to what it leaves behind. */
  hear({ leaseMs }: { leaseMs: number }): void {
    if (this.#upkeep !== null || !this.#seesToUpkeep()) return;
    this.#upkeep = startUpkeep(this.engine, {
      pollMs: POLL_MS,
      leaseMs: Math.min(leaseMs, MOST_LEASE_MS),
      retention: this.#retention,
      restarted: () => null,
    });
  }

  async close(): Promise<void> {
    await this.wakeUps.close();
    await this.#upkeep?.stop();
  }

  async #decide(
    asked: AskedCommit,
    caller: Caller,
  ): Promise<Decided | Extract<CommitAnswer, { error: unknown }>> {
    try {
      return await decideAgain(this, asked, caller);
    } catch (error) {
      // Trouble of our own is no answer: the worker asks again.
      if (!(error instanceof PawlError) || error.retryable) throw error;
      const { code, message } = error;
      return { error: { code, message } };
    }
  }

  #saved(
    { item, events, before, after }: Extract<Decided, { item: unknown }>,
    { repeated, told }: { repeated: boolean; told: true | undefined },
  ): void {
    const { engine } = this;
    // What stands there under this name is what was saved first, which need not be what was sent now.
    if (after && !repeated) this.heads.put(after);
    engine.announceMail(item.outbox);
    const { job } = item;
    const tenantId = (job ?? before)?.spec.tenantId;
    if (tenantId !== undefined && !repeated) engine.meters.committed(tenantId, events, item);
    if (job === null) return;
    engine.announce(job, { told });
    if (before?.status === 'running' && job.status !== 'running') this.#left(before, job);
  }

  /** Its holder is told, if it does not know; and jobs with the same key may have been waiting for room. */
  #left(before: Job, { status, spec }: Job): void {
    const lanes = [
      ...(status === 'cancelled' ? [holderLane(before)] : []),
      ...(spec.concurrencyKey === null ? [] : [laneOf(spec)]),
    ];
    if (lanes.length > 0) this.engine.store.wake(lanes);
  }
}
