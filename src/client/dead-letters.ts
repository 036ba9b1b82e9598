import { DLQ_STATUSES, type DlqItem, type DlqStatus } from '../kernel/index.js';
import {
  approveDiscard,
  askDiscard,
  dlqItems,
  getDlqItem,
  requeue,
  requeueAll,
  type BulkRequeue,
  type DlqFilter,
  type Why,
} from '../engine/dlq.js';
import type { Engine } from '../engine/engine.js';
import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';
import type { Repeating } from '../engine/successor.js';
import { by, type By } from './by-and-tenant.js';
import { JobHandle } from './job-handle.js';

type Listed = Partial<DlqFilter> & { readonly status?: DlqStatus | null; readonly limit?: number };
type BulkAsked = By & Partial<Omit<BulkRequeue, 'actor'>>;
type Discard = By & { readonly reason: string };

const FILTER = { tenantId: is.orNull(is.text), task: is.text, errorCode: is.text };
const REPEATING = { repeatEffects: is.flag, keepRecorded: is.flag, reason: is.orNull(is.text) };
const LIST = new Options<Listed>({
  ...FILTER,
  status: is.orNull(is.oneOf(...DLQ_STATUSES)),
  limit: is.whole(1),
});
const REQUEUE = new Options<By & Repeating & Why>({ by, ...REPEATING });
const REQUEUE_ALL = new Options<BulkAsked>({
  by,
  ...FILTER,
  ...REPEATING,
  dryRun: is.flag,
  perSecond: is.orNull(is.above0),
  onProgress: is.func,
  signal: is.object,
});
/** Without them it is APPROVAL_REQUIRED. */
const DISCARD = new Options<Discard>({ by: is.string, reason: is.string });
const APPROVE = new Options<By>({ by: is.string });

const operator = (who: string) => ({ tenantId: null, actor: `operator:${who}` });

/** The dead-letter queue, as an operator sees it. */
export class DeadLetters {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Oldest first. */
  async list(options: Listed = {}): Promise<DlqItem[]> {
    LIST.expect(options, 'deadLetters.list()');
    const { status = 'open', tenantId = null, limit = 100, ...filter } = options;
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
  async requeue(dlqId: string, options: By & Repeating & Why): Promise<JobHandle> {
    REQUEUE.expect(options, 'requeue()');
    const { by: who, ...repeating } = options;
    const job = await requeue(this.#engine, dlqId, { ...operator(who), ...repeating });
    return new JobHandle(this.#engine, { jobId: job.spec.jobId, tenantId: null });
  }

  /** Requeues all that fit the filter; with `dryRun`, says how many that would be. */
  async requeueAll(options: BulkAsked): Promise<{ requeued: number; passedOver: number }> {
    REQUEUE_ALL.expect(options, 'requeueAll()');
    const { by: who, tenantId = null, dryRun = false, perSecond = null, ...rest } = options;
    return requeueAll(this.#engine, { ...rest, tenantId, dryRun, perSecond, actor: `operator:${who}` });
  }

  /** Asks for a dead letter to be discarded. Another reviewer must agree. */
  async askDiscard(dlqId: string, options: Discard): Promise<DlqItem> {
    DISCARD.expect(options, 'askDiscard()');
    return askDiscard(this.#engine, dlqId, { ...operator(options.by ?? ''), reason: options.reason ?? '' });
  }

  /** Agrees to what another reviewer asked for. */
  async approveDiscard(dlqId: string, options: By): Promise<DlqItem> {
    APPROVE.expect(options, 'approveDiscard()');
    return approveDiscard(this.#engine, dlqId, operator(options.by ?? ''));
  }
}
