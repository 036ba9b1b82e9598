import type { JsonText, Timestamp } from '../../kernel/index.js';
import type { Schedule as StoredSchedule } from '../../ports/store.js';
import type { TaskSettings } from '../new-job.js';
import type { Timing } from './timing.js';

export const OVERLAP_POLICIES = ['allow', 'skip', 'queue', 'cancel_running'] as const;
/** What a firing does while the job of the one before is still live. */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export const CATCH_UP_POLICIES = ['all', 'latest', 'none'] as const;
/** Which of the firings take place that were missed while nobody was there to make them. */
export type CatchUpPolicy = (typeof CATCH_UP_POLICIES)[number];

/** A schedule, as its row's body says it. */
export type ScheduleBody = {
  readonly timing: Timing;
  readonly overlap: OverlapPolicy;
  readonly catchUp: CatchUpPolicy;
  readonly task: TaskSettings;
  readonly input: JsonText;
  readonly concurrencyKey: string | null;
  readonly paused: boolean;
  /** The first firing that has not been dealt with; null: there are no more. */
  readonly cursor: Timestamp | null;
  /** Firings before the cursor that take place once the job before them has ended. */
  readonly waiting?: readonly Timestamp[];
  readonly lastFireAt: Timestamp | null;
  readonly lastJobId: string | null;
  /** Firings that a policy left out. */
  readonly skipped: number;
  readonly createdAt: Timestamp;
  /** What it is known by besides its id, if anything: a record leads from there to it. */
  readonly key?: string;
};

export type Schedule = ScheduleBody & {
  readonly tenantId: string;
  readonly scheduleId: string;
  readonly version: number;
  readonly nextFireAt: Timestamp | null;
};

export function readSchedule({ body, ...row }: StoredSchedule): Schedule {
  return { ...(JSON.parse(body) as ScheduleBody), ...row };
}

/**
 * The row that follows a schedule's current one. `lookAt`: when to look at it again. Without it, when that was to be; where that is not
 * known any more, at its next firing, which is the first that waits.
 */
export function nextRow(
  schedule: Schedule,
  change: Partial<ScheduleBody>,
  lookAt?: Timestamp,
): StoredSchedule {
  const { tenantId, scheduleId, version, nextFireAt: before, ...body } = { ...schedule, ...change };
  const known = lookAt ?? (change.cursor === undefined ? before : null);
  const due = known ?? body.waiting?.[0] ?? body.cursor;
  const nextFireAt = body.paused ? null : due;
  return { tenantId, scheduleId, version: version + 1, nextFireAt, body: JSON.stringify(body) };
}
