import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Notifier } from '../ports/notifier.js';
import type { RunStateStore } from '../ports/run-state-store.js';
import { endRun } from './end-run.js';
import { NotifierQueue } from './notifier-queue.js';

const PAGE = 100;

export type InterruptOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly notifier?: Notifier;
  /** Whether somebody is still at work on a run, or will go on with it: such a run is left alone. */
  readonly isAlive?: (runId: string) => boolean | Promise<boolean>;
};

/**
 * Archives runs that were running and will not go on, such as at the start of a process whose runs ended with the one before.
 * Steps and hosts that were under way are interrupted with their run. Answers with the ids.
 */
export async function markInterrupted(
  store: RunStateStore,
  reason: string,
  { clock, log, notifier, isAlive = () => false }: InterruptOptions,
): Promise<string[]> {
  const marked: string[] = [];
  const notifications = notifier ? new NotifierQueue(notifier, { clock, log }) : null;
  for (let before: string | undefined; ;) {
    const page = await store.listRuns({
      status: 'running',
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    for (const { run_id: runId, workflow_name } of page) {
      if (await isAlive(runId)) continue;
      // It may have ended since it was listed: that is not undone.
      const run = await endRun(store, runId, { status: 'interrupted', message: reason, clock });
      if (run === null) continue;
      marked.push(runId);
      const { status, version } = run;
      const change = { status, step: null, host: null, timestamp: run.updated_at, error: null, version };
      notifications?.push({ run_id: runId, workflow_name, ...change });
    }
    before = page.at(-1)?.run_id;
    if (page.length < PAGE) break;
  }
  return marked;
}
