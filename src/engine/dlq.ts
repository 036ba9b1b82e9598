import { ERRORS, PawlError } from '../errors.js';
import { BUCKETS, type DlqAction, type DlqItem, type DlqStatus, type Job } from '../kernel/index.js';
import { recordAudit } from './audit.js';
import type { Engine } from './engine.js';
import type { Authority } from './operator.js';
import { ownJob } from './own-job.js';
import { pause } from './pause.js';
import { putOwnDlqItem } from './put-own.js';
import { expectAgreed, startSuccessor, newSuccessor, type Repeating } from './successor.js';

/** Which items: all that fit every member that is given. */
export type DlqFilter = {
  readonly tenantId: string | null;
  readonly task?: string;
  readonly errorCode?: string;
};

/** For the trail. */
export type Why = { readonly reason?: string | null };

export async function getDlqItem(
  engine: Engine,
  dlqId: string,
  { tenantId }: Pick<Authority, 'tenantId'>,
): Promise<DlqItem> {
  const { item } = await engine.store.dlqItem(dlqId);
  if (item && (tenantId === null || item.tenantId === tenantId)) return item;
  throw new PawlError('DLQ_NOT_FOUND', { detail: `there is no dead letter '${dlqId}'` });
}

/** The items that fit, oldest first, read page by page; behind `from`, if it is given. */
export async function* dlqItems(
  engine: Engine,
  { tenantId, task, errorCode }: DlqFilter,
  status: DlqStatus | null,
  from: Pick<DlqItem, 'createdAt' | 'dlqId'> | null = null,
): AsyncGenerator<DlqItem> {
  let after = from;
  for (;;) {
    const page: readonly DlqItem[] = (await engine.store.dlq({ tenantId, status, after, limit: PAGE })).items;
    for (const item of page) {
      if (item.task === (task ?? item.task) && item.errorCode === (errorCode ?? item.errorCode)) yield item;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last;
  }
}

const PAGE = 200;

/**
 * Starts a new job in the place of one that failed, with its settings and its input. The item says so in the same commit,
 * so two operators cannot both do it.
 */
export async function requeue(
  engine: Engine,
  dlqId: string,
  {
    jobId = engine.newId(engine.random.int(BUCKETS)),
    keepRecorded = false,
    repeatEffects = false,
    reason = null,
    ...authority
  }: Authority & Repeating & Why & { readonly jobId?: string },
): Promise<Job> {
  const item = await getDlqItem(engine, dlqId, authority);
  if (item.status !== 'open') await noteLast(engine, item);
  // The same request, once more.
  if (item.requeuedAs === jobId) return ownJob(engine, jobId, authority);
  if (item.status !== 'open') throw conflict(item);
  const { found } = await engine.store.load(item.jobId);
  if (found === null) {
    throw new PawlError('JOB_NOT_FOUND', {
      detail: `job ${item.jobId} of dead letter '${dlqId}' was purged`,
    });
  }
  const action: DlqAction = { action: 'requeue', by: authority.actor, at: engine.now(), reason };
  const dlqItem = next(item, action, { status: 'requeued', requeuedAs: jobId });
  try {
    const asked = { jobId, input: item.payload, keepRecorded, repeatEffects };
    const successor = await newSuccessor(engine, found.job, asked);
    const linked = { ...successor, spec: { ...successor.spec, requeuedFrom: dlqId } };
    const job = await startSuccessor(engine, linked, { actor: authority.actor, dlqItem });
    if (job === null) throw conflict((await engine.store.dlqItem(dlqId)).item ?? item);
    await noteLast(engine, dlqItem);
    return job;
  } catch (error) {
    // Another operator was quicker, with this very letter.
    const isTaken = error instanceof PawlError && error.code === 'CONTINUED_ALREADY';
    const now = isTaken ? (await engine.store.dlqItem(dlqId)).item : null;
    throw now !== null && now.status !== 'open' ? conflict(now) : error;
  }
}

export type BulkRequeue = DlqFilter &
  Repeating &
  Why & {
    readonly actor: string;
    /** Nothing is changed; the answer says what would be. */
    readonly dryRun: boolean;
    readonly perSecond: number | null;
    readonly onProgress?: (done: number) => void;
    /** Stops it, between two of them. */
    readonly signal?: AbortSignal;
  };

/**
 * Requeues what fits and was there when it was asked for, at no more than the rate: what fails again meanwhile stays for the next time.
 * Passed over are items that somebody else has dealt with meanwhile, and, unless it is said what is to become of them, those with effects
 * that happened.
 */
export async function requeueAll(
  engine: Engine,
  {
    actor,
    dryRun,
    perSecond,
    onProgress,
    signal,
    keepRecorded = false,
    repeatEffects = false,
    reason = null,
    ...filter
  }: BulkRequeue,
): Promise<{ readonly requeued: number; readonly passedOver: number }> {
  let requeued = 0;
  let passedOver = 0;
  const startedAt = engine.clock.elapsed();
  const authority = { tenantId: filter.tenantId, actor };
  const repeating = { keepRecorded, repeatEffects };
  const askedAt = engine.now();
  /** Within one millisecond, only this tells them from those that were there. */
  const made = new Set<string>();
  for await (const { dlqId, jobId, createdAt } of dlqItems(engine, filter, 'open')) {
    signal?.throwIfAborted();
    if (createdAt > askedAt) break;
    if (made.has(jobId)) continue;
    if (!dryRun && perSecond !== null) await until(engine, startedAt + (requeued * 1_000) / perSecond);
    const isDone = await succeeds(async () => {
      if (dryRun) await expectAgreed(engine, jobId, repeating);
      else made.add((await requeue(engine, dlqId, { ...authority, ...repeating, reason })).spec.jobId);
    });
    if (isDone) {
      requeued += 1;
      onProgress?.(requeued);
    } else passedOver += 1;
  }
  return { requeued, passedOver };
}

/** What is wrong with one is no trouble of the others; a store that cannot be used, or that was closed, is. */
async function succeeds(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    const isItsOwn = error instanceof PawlError && ERRORS[error.code].class !== 'transient';
    if (isItsOwn && error.code !== 'APP_CLOSED') return false;
    throw error;
  }
}

async function until(engine: Engine, elapsed: number): Promise<void> {
  const leftMs = elapsed - engine.clock.elapsed();
  if (leftMs > 0) await pause(engine, leftMs);
}

/** One reviewer asks for an item to be discarded. Nothing happens to it until another agrees. */
export async function askDiscard(
  engine: Engine,
  dlqId: string,
  { reason, ...authority }: Authority & { readonly reason: string },
): Promise<DlqItem> {
  if (reason.trim() === '') throw approvalRequired('a reason is missing');
  expectNamed(authority);
  const action: DlqAction = { action: 'ask_discard', by: authority.actor, at: engine.now(), reason };
  return change(engine, dlqId, authority, (item) => next(item, action, { discardAsked: action }));
}

/** Another reviewer agrees. The item stays, as a tombstone. */
export async function approveDiscard(engine: Engine, dlqId: string, authority: Authority): Promise<DlqItem> {
  expectNamed(authority);
  return change(engine, dlqId, authority, (item) => {
    const asked = item.discardAsked;
    if (asked === null) throw approvalRequired('nobody has asked for it to be discarded');
    if (asked.by === authority.actor)
      throw approvalRequired('whoever asks for it cannot be the one who agrees');
    const action: DlqAction = {
      action: 'discard',
      by: authority.actor,
      at: engine.now(),
      reason: asked.reason,
    };
    return next(item, action, { status: 'discarded', discardAsked: null });
  });
}

/** Two of them who have no name could be one. */
function expectNamed({ actor }: Authority): void {
  if (/:\s*$/.test(actor)) throw approvalRequired('the reviewer has no name');
}

async function change(
  engine: Engine,
  dlqId: string,
  authority: Authority,
  how: (item: DlqItem) => DlqItem,
): Promise<DlqItem> {
  for (;;) {
    const item = await getDlqItem(engine, dlqId, authority);
    if (item.status !== 'open') {
      await noteLast(engine, item);
      throw conflict(item);
    }
    const changed = how(item);
    if (await putOwnDlqItem(engine, changed)) {
      await noteLast(engine, changed);
      return changed;
    }
  }
}

/** The item's own trail is saved with it. Whoever comes by after a crash between the two makes up for what the audit lacks. */
async function noteLast(engine: Engine, { tenantId, dlqId, version, trail }: DlqItem): Promise<void> {
  const last = trail.at(-1);
  if (last) await recordAudit(engine, { tenantId, subject: dlqId, ...last }, { of: `${dlqId}#${version}` });
}

function next(item: DlqItem, action: DlqAction, rest: Partial<DlqItem>): DlqItem {
  const { version, trail } = item;
  return { ...item, ...rest, version: version + 1, updatedAt: action.at, trail: [...trail, action] };
}

function conflict({ dlqId, status }: DlqItem): PawlError {
  return new PawlError('DLQ_REQUEUE_CONFLICT', {
    detail: `dead letter '${dlqId}' is ${status} already`,
    details: { dlqId, status },
  });
}

function approvalRequired(problem: string): PawlError {
  return new PawlError('APPROVAL_REQUIRED', { detail: problem });
}
