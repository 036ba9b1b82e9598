import type { DlqItem, DlqStatus } from '../kernel/index.js';
import {
  approveDiscard,
  askDiscard,
  dlqItems,
  getDlqItem,
  requeue,
  requeueAll,
  type BulkRequeue,
  type DlqFilter,
} from '../engine/dlq.js';
import type { Engine } from '../engine/engine.js';
import type { Repeating } from '../engine/successor.js';
import { JobHandle } from './job-handle.js';

type By = { readonly by: string };

/** The dead-letter queue, as an operator sees it. */
export class DeadLetters {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Oldest first. */
  async list({
    status = 'open',
    tenantId = null,
    limit = 100,
    ...filter
  }: Partial<DlqFilter> & { status?: DlqStatus | null; limit?: number } = {}): Promise<DlqItem[]> {
    const found: DlqItem[] = [];
    for await (const item of dlqItems(this.#engine, { tenantId, ...filter }, status)) {
      found.push(item);
      if (found.length === limit) break;
    }
    return found;
  }

  get(dlqId: string): Promise<DlqItem> {
    return getDlqItem(this.#engine, dlqId, { tenantId: null });
  }

  /**
   * A new job in the place of the failed one: from the start, or with `keepRecorded` from where that one was. If it has effects
   * that happened, or may have, the former is refused without `repeatEffects`.
   */
  async requeue(dlqId: string, { by, ...repeating }: By & Repeating): Promise<JobHandle> {
    const authority = { tenantId: null, actor: `operator:${by}` };
    const job = await requeue(this.#engine, dlqId, { ...authority, ...repeating });
    return new JobHandle(this.#engine, { jobId: job.spec.jobId, tenantId: null });
  }

  /** Requeues all that fit the filter; with `dryRun`, says how many that would be. */
  requeueAll({
    by,
    tenantId = null,
    dryRun = false,
    perSecond = null,
    ...rest
  }: By & Partial<Omit<BulkRequeue, 'actor'>>): Promise<{ requeued: number; passedOver: number }> {
    return requeueAll(this.#engine, { ...rest, tenantId, dryRun, perSecond, actor: `operator:${by}` });
  }

  /** Asks for a dead letter to be discarded. Another reviewer must agree. */
  askDiscard(dlqId: string, { by, reason }: By & { readonly reason: string }): Promise<DlqItem> {
    return askDiscard(this.#engine, dlqId, { tenantId: null, actor: `operator:${by}`, reason });
  }

  /** Agrees to what another reviewer asked for. */
  approveDiscard(dlqId: string, { by }: By): Promise<DlqItem> {
    return approveDiscard(this.#engine, dlqId, { tenantId: null, actor: `operator:${by}` });
  }
}
