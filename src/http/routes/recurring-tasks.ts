import { utc } from '../../contracts/index.js';
import { createSchedule } from '../../engine/schedules/manage.js';
import { readTiming } from '../../engine/schedules/timing.js';
import type { ScheduleType } from '../../kernel/index.js';
import { expectOneTask, recursOtherwise, taskKeyOf, type TaskNames } from '../known-tasks.js';
import { scheduleView, whenOf, workOf, type RecurringFields } from '../recurring.js';
import { created, ok, type Answer, type ApiRequest } from '../route.js';

type RecurringTask = RecurringFields &
  TaskNames & {
    readonly job_type?: string | undefined;
    readonly payload?: unknown;
    readonly timeout_ms?: number | null | undefined;
    readonly max_retries?: number | undefined;
  };

/**
 * A task that recurs is a schedule with the task's id; without one, its key makes the id. Like a task that is due once, it
 * is created, or found to be there by its id or its key, or refused where it is there with another timing.
 */
export async function createRecurring(
  request: ApiRequest<unknown, unknown, RecurringTask>,
  type: ScheduleType,
): Promise<Answer> {
  const { engine, caller, body, newId } = request;
  const when = whenOf(type, body);
  const work = await workOf(request, body);
  const key = taskKeyOf(body);
  const scheduleId = body.task_id ?? (key === null ? newId() : `task-${key.slice(0, 40)}`);
  const ref = { tenantId: caller.tenantId, scheduleId };
  await expectOneTask(request, body, { recurs: true });
  const { schedule: known, isNew } = await createSchedule(engine, { ...when, ...ref }, work, { key });
  if (isNew) return created({ idempotent_hit: false, schedule: scheduleView(known) });
  // It may have been made just now, by somebody else.
  await expectOneTask(request, body, { recurs: true });
  const from = type === 'every' && known.timing.type === 'every' ? { from: utc(known.timing.from) } : {};
  const timing = readTiming({ ...from, ...when }, engine.now());
  const differs = {
    schedule_type: timing.type !== known.timing.type,
    schedule: timing.type === known.timing.type && JSON.stringify(timing) !== JSON.stringify(known.timing),
    timeout_ms: body.timeout_ms !== undefined && body.timeout_ms !== known.task.timeoutMs,
    max_retries: body.max_retries !== undefined && body.max_retries !== known.task.retry.maxRetries,
  };
  const conflict_fields = Object.entries(differs).flatMap(([name, is]) => (is ? [name] : []));
  if (conflict_fields.length === 0) return ok({ idempotent_hit: true, schedule: scheduleView(known) });
  throw recursOtherwise(known, conflict_fields);
}
