import { utc } from '../../contracts/index.js';
import { createSchedule, findSchedule } from '../../engine/schedules/manage.js';
import type { Schedule } from '../../engine/schedules/schedule.js';
import { readTiming } from '../../engine/schedules/timing.js';
import { sha256 } from '../../engine/sha256.js';
import { PawlError } from '../../errors.js';
import type { ScheduleType } from '../../kernel/index.js';
import { scheduleView, whenOf, workOf, type RecurringFields } from '../recurring.js';
import { created, ok, type Answer, type ApiRequest } from '../route.js';

export type RecurringTask = RecurringFields & {
  readonly task_id?: string | undefined;
  readonly job_type?: string | undefined;
  readonly payload?: unknown;
  readonly timeout_ms?: number | null | undefined;
  readonly max_retries?: number | undefined;
  readonly idempotency_key?: string | undefined;
  readonly idempotency_scope?: string | null | undefined;
};

/**
 * A task that recurs is a schedule with the task's id; without one, its key makes the id. Like a task that is due once, it
 * is created, or found to be there, or refused where it is there with another timing.
 */
export async function createRecurring(
  request: ApiRequest<unknown, unknown, RecurringTask>,
  type: ScheduleType,
): Promise<Answer> {
  const { engine, caller, body, newId } = request;
  const when = whenOf(type, body);
  const work = await workOf(request, body);
  const ref = { tenantId: caller.tenantId, scheduleId: scheduleIdOf(body) ?? newId() };
  const { schedule: known, isNew } = await createSchedule(engine, { ...when, ...ref }, work);
  if (isNew) return created({ idempotent_hit: false, schedule: scheduleView(known) });
  const from = known.timing.type === 'every' ? { from: utc(known.timing.from) } : {};
  const timing = readTiming({ ...from, ...when }, engine.now());
  const differs = {
    schedule_type: timing.type !== known.timing.type,
    schedule: timing.type === known.timing.type && JSON.stringify(timing) !== JSON.stringify(known.timing),
    timeout_ms: body.timeout_ms !== undefined && body.timeout_ms !== known.task.timeoutMs,
    max_retries: body.max_retries !== undefined && body.max_retries !== known.task.retry.maxRetries,
  };
  const conflict_fields = Object.entries(differs).flatMap(([name, is]) => (is ? [name] : []));
  if (conflict_fields.length === 0) return ok({ idempotent_hit: true, schedule: scheduleView(known) });
  throw recurs(known, conflict_fields);
}

/** Throws where a task that recurs has the id of one that is to be due once, or its key. */
export async function expectNoRecurring(
  { engine, caller }: Pick<ApiRequest<unknown, unknown, unknown>, 'engine' | 'caller'>,
  asked: RecurringTask,
): Promise<void> {
  const scheduleId = scheduleIdOf(asked);
  if (scheduleId === null) return;
  const known = await findSchedule(engine, { tenantId: caller.tenantId, scheduleId });
  if (known !== null) throw recurs(known, ['schedule_type']);
}

function recurs(known: Schedule, conflict_fields: readonly string[]): PawlError {
  const reason = `task ${known.scheduleId} exists with other values of ${conflict_fields.join(', ')}`;
  return new PawlError('DUPLICATE', {
    detail: reason,
    details: { reason, conflict_fields, task: scheduleView(known) },
  });
}

/** Null: whoever asks has said nothing that it could be known by. */
function scheduleIdOf({
  task_id: taskId,
  idempotency_key: key,
  idempotency_scope: scope = null,
}: RecurringTask): string | null {
  if (taskId !== undefined) return taskId;
  return key === undefined ? null : `task-${sha256(JSON.stringify([scope, key])).slice(0, 40)}`;
}
