import { utc } from '../../contracts/index.js';
import type { PausedSchedule, RestoredReport } from '../../engine/hold-restored.js';

export function restoredView({ looked, held, heldByTask, leftByTask, pausedSchedules }: RestoredReport) {
  return {
    looked,
    held,
    held_by_task: heldByTask,
    left_out_by_task: leftByTask,
    paused_schedules: pausedSchedules.map(({ tenantId, scheduleId, task, dueAt }) => ({
      schedule_id: scheduleId,
      tenant_id: tenantId,
      job_type: task,
      due_at: utc(dueAt),
    })),
  };
}

export function restoredText(report: RestoredReport): string {
  const { looked, held, heldByTask, leftByTask, pausedSchedules } = report;
  const all = Object.values(heldByTask).reduce((sum, count) => sum + count, 0);
  const before = all - held;
  const known = before === 0 ? '' : ` (${before} of them were before)`;
  const left = Object.keys(leftByTask).length > 0;
  const none = left ? 'none: no unfinished job has such a task' : 'none: no job is unfinished';
  return [
    `${looked} jobs looked at, ${all} now held${known}:`,
    ...(all > 0 ? lines(heldByTask) : [`  ${none}`]),
    ...(left ? ['Left out, and free to run:', ...lines(leftByTask)] : []),
    `${pausedSchedules.length} schedules were due and are now paused:`,
    ...(pausedSchedules.length > 0 ? pausedSchedules.map(lineOf) : ['  none']),
    ...(all > 0
      ? ['Check what the jobs did after the point of the restore, then `pawl release` them, or cancel them.']
      : []),
    ...(pausedSchedules.length > 0
      ? [
          'Check which firings took place after the point of the restore, then `pawl schedules resume` them. One with a single time fires at once then: if it had fired, leave it paused.',
        ]
      : []),
  ].join('\n');
}

function lines(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).map(([task, count]) => `  ${count} of ${task}`);
}

function lineOf({ tenantId, scheduleId, task, dueAt }: PausedSchedule): string {
  return `  ${scheduleId} of tenant ${tenantId}, which starts ${task}, due since ${utc(dueAt)}`;
}
