import { CONFLICT_FIELD, taskDuplicate } from '../contracts/index.js';
import { findByKey, findSchedule } from '../engine/schedules/manage.js';
import type { Schedule } from '../engine/schedules/schedule.js';
import { sha256 } from '../engine/sha256.js';
import { PawlError } from '../errors.js';
import type { ConflictField, Job } from '../kernel/index.js';
import type { Identity } from '../ports/store.js';
import { scheduleView } from './recurring.js';
import type { ApiRequest } from './route.js';

/** What a request may call a task. */
export type TaskNames = {
  readonly task_id?: string | undefined;
  readonly idempotency_key?: string | undefined;
  readonly idempotency_scope?: string | null | undefined;
};

type From = Pick<ApiRequest<unknown, unknown, unknown>, 'engine' | 'caller'>;
/** What a task's id leads to, and what its key leads to. */
type Found<T> = { readonly byId: T | null; readonly byKey: T | null };

/** Scope and key as one text; null: whoever asks has named no key. */
export function taskKeyOf({
  idempotency_key: key,
  idempotency_scope: scope = null,
}: TaskNames): string | null {
  return key === undefined ? null : sha256(JSON.stringify([scope, key]));
}

/**
 * Throws where a task's id and key lead to two tasks, or to one that recurs although the one asked for is due once, or the other way
 * round: whichever they are, they have their ids and keys in common.
 */
export async function expectOneTask(
  from: From,
  names: TaskNames,
  { recurs }: { readonly recurs: boolean },
): Promise<void> {
  const schedules = await schedulesOf(from, names);
  // Jobs are judged by whoever starts one, in the same commit.
  if (!recurs && schedules.byId === null && schedules.byKey === null) return;
  const jobs = await jobsOf(from, names);
  const byId = schedules.byId ?? jobs.byId;
  const byKey = schedules.byKey ?? jobs.byKey;
  if (byId && byKey && idOf(byId) !== idOf(byKey)) throw otherwise(byId, 'idempotencyKey');
  const known = byId ?? byKey;
  if (known && isRecurring(known) !== recurs) throw otherwise(known, 'scheduleType');
}

/** A task that is due once, and what it differs in. */
export function onceOtherwise(known: Job, conflicts: readonly ConflictField[]): PawlError {
  const { reason, conflict_fields, task } = taskDuplicate(known, conflicts);
  return new PawlError('DUPLICATE', { detail: reason, details: { reason, conflict_fields, task } });
}

/** A task that recurs, and what it differs in. */
export function recursOtherwise(known: Schedule, conflict_fields: readonly string[]): PawlError {
  const reason = `task ${known.scheduleId} exists with other values of ${conflict_fields.join(', ')}`;
  const task = scheduleView(known);
  return new PawlError('DUPLICATE', { detail: reason, details: { reason, conflict_fields, task } });
}

function otherwise(known: Job | Schedule, field: ConflictField): PawlError {
  return isRecurring(known) ? recursOtherwise(known, [CONFLICT_FIELD[field]]) : onceOtherwise(known, [field]);
}

const isRecurring = (known: Job | Schedule): known is Schedule => 'scheduleId' in known;
const idOf = (known: Job | Schedule): string =>
  isRecurring(known) ? `schedule ${known.scheduleId}` : `job ${known.spec.jobId}`;

async function schedulesOf(
  { engine, caller: { tenantId } }: From,
  names: TaskNames,
): Promise<Found<Schedule>> {
  const { task_id: scheduleId } = names;
  const key = taskKeyOf(names);
  const [byId, byKey] = await Promise.all([
    scheduleId === undefined ? null : findSchedule(engine, { tenantId, scheduleId }),
    key === null ? null : findByKey(engine, { tenantId, key }),
  ]);
  return { byId, byKey };
}

async function jobsOf(
  { engine: { store }, caller: { tenantId } }: From,
  { task_id: taskId, idempotency_key: key, idempotency_scope: scope = null }: TaskNames,
): Promise<Found<Job>> {
  const load = async (kind: Identity['kind'], value: string | null): Promise<Job | null> => {
    const { jobIds } = value === null ? { jobIds: [] } : await store.resolve([{ tenantId, kind, value }]);
    const [jobId = null] = jobIds;
    return jobId === null ? null : ((await store.load(jobId)).found?.job ?? null);
  };
  const [byId, byKey] = await Promise.all([
    load('task_id', taskId ?? null),
    load('key', key === undefined ? null : JSON.stringify([scope, key])),
  ]);
  return { byId, byKey };
}
