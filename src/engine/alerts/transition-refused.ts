import type { Timestamp } from '../../kernel/index.js';
import type { Engine } from '../engine.js';
import { reportAlert } from './report-alert.js';
import { spanInWords } from './span-in-words.js';

/** Refusals in a row: when the last of them were, and when this was last reported. */
type Row = { readonly times: Timestamp[]; length: number; reportedAt: Timestamp | null };
type Limit = { readonly inARow: number; readonly withinMs: number };

/** A flood of refusals prolongs its alert this often, not with each. */
const REPORT_EVERY_MS = 30_000;
/** Rows that are kept. Beyond, those that are too old to count are let go of. */
const MOST_ROWS = 1_000;

/** Commands that callers of this process were refused one after the other, by tenant. */
export class Refusals {
  readonly #rows = new Map<string, Row>();

  /** How many rows are kept. */
  get size(): number {
    return this.#rows.size;
  }

  /** Ends the tenant's row. As long as nothing is refused, this is all that it costs. */
  accepted(tenantId: string): void {
    if (this.#rows.size > 0) this.#rows.delete(tenantId);
  }

  /** How long the tenant's row is, if that is to be reported now; null if not. */
  refused(tenantId: string, now: Timestamp, { inARow, withinMs }: Limit): number | null {
    const row = this.#rows.get(tenantId) ?? { times: [], length: 0, reportedAt: null };
    this.#rows.set(tenantId, row);
    row.times.push(now);
    row.length += 1;
    if (row.times.length > inARow) row.times.shift();
    if (this.#rows.size > MOST_ROWS) this.#forget(now - withinMs);
    const [first = now] = row.times;
    if (row.times.length < inARow || now - first > withinMs) return null;
    return row.reportedAt === null || now - row.reportedAt >= REPORT_EVERY_MS ? row.length : null;
  }

  reported(tenantId: string, now: Timestamp): void {
    const row = this.#rows.get(tenantId);
    if (row) row.reportedAt = now;
  }

  #forget(before: Timestamp): void {
    for (const [tenantId, { times }] of this.#rows) {
      if ((times.at(-1) ?? 0) < before) this.#rows.delete(tenantId);
    }
  }
}

export type RefusedCommand = {
  readonly tenantId: string;
  readonly jobId: string;
  readonly traceId: string;
  /** As in "cancel job 17". */
  readonly asked: string;
};

/**
 * A caller was told that a job's state does not allow what it asked for. Once is a race; again and again it works from a
 * state that is not the job's. The alert lasts until nothing of the kind has come for as long as the row may take.
 */
export async function noteRefusal(
  engine: Engine,
  { tenantId, jobId, traceId, asked }: RefusedCommand,
): Promise<void> {
  engine.meters.transitionsRefused.add(tenantId);
  const rule = engine.alerts.transitionRefused;
  if (rule === null) return;
  const now = engine.now();
  const value = engine.refusals.refused(tenantId, now, rule);
  if (value === null) return;
  const { inARow, withinMs } = rule;
  const message =
    `${value} commands in a row were refused within ${spanInWords(withinMs)} because the state of the job does not allow them, ` +
    `the last of them to ${asked}: find the caller that works from an outdated state.`;
  const finding = { tenantId, rule: 'transition_refused', value, threshold: inARow, message } as const;
  try {
    await reportAlert(engine, { ...finding, jobId, traceId }, { until: now + withinMs });
    engine.refusals.reported(tenantId, now);
  } catch (error) {
    // The caller is to hear of the refusal, not of this; the next refusal tries again.
    engine.log.error('an alert could not be raised', { rule: finding.rule, tenantId, error });
  }
}
