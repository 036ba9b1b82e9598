import { hasEnded, utc, type RunSnapshot, type StepPatch } from '../contracts/index.js';
import type { Clock } from '../ports/clock.js';
import type { RunFinish } from '../ports/recorder.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { changeRun } from './change-run.js';

/** Ends a run from outside, if it has not ended. Steps and hosts that were under way are interrupted. Null: it had ended. */
export function endRun(
  store: RunStateStore,
  runId: string,
  { clock, ...end }: RunFinish & { clock: Pick<Clock, 'now'> },
): Promise<RunSnapshot | null> {
  const at = utc(clock.now());
  return changeRun(store, runId, {
    clock,
    change: (run) => (hasEnded(run.status) ? null : endOf(run, { ...end, at })),
  });
}

function endOf(run: RunSnapshot, { status, message = null, error = null, at }: RunFinish & { at: string }) {
  const ended = { status: 'interrupted', finished_at: at } as const;
  const steps = run.steps.flatMap(({ name, status: of, hosts }): StepPatch[] => {
    const open = Object.entries(hosts).filter(([, host]) => host.status === 'running');
    if (of !== 'running' && open.length === 0) return [];
    return [
      {
        name,
        ...(of === 'running' ? ended : {}),
        hosts: Object.fromEntries(open.map(([host]) => [host, ended])),
      },
    ];
  });
  return {
    status,
    message,
    finished_at: at,
    ...(status === 'interrupted' ? { interrupted_reason: message } : {}),
    ...(error === null ? {} : { last_error: error }),
    steps,
  };
}
