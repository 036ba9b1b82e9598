import { DLQ_STATUSES, isTerminal, type Status } from '../../kernel/index.js';
import type { Store } from '../../ports/store.js';
import { ok, timespan, warn, type Check } from './check.js';

/** A job that has been due for this long waits for something that does not come by itself. */
const OLD_MS = 60_000;

/** Workers that are alive, and what waits for them. */
export async function checkWork(
  store: Store,
  due: { readonly dueJobs: number; readonly oldestDueAt: number | null },
): Promise<Check[]> {
  const { workers, now } = await store.workers({ incarnations: null });
  const alive = workers.filter(({ leaseUntil }) => leaseUntil > now);
  const { counts } = await store.counts({ tenantId: null });
  const { items } = await store.dlq({ tenantId: null, status: DLQ_STATUSES[0], after: null, limit: 1 });
  return [
    alive.length > 0
      ? ok('workers', `${alive.length} alive`)
      : warn('workers', 'none is alive: jobs wait. Start one with `pawl worker`', ['G1']),
    backlogOf({ ...due, now }),
    ok('jobs', countsOf(counts)),
    items.length === 0
      ? ok('dead letters', 'none is open')
      : warn('dead letters', 'there are open ones: see `pawl dlq list`'),
  ];
}

function backlogOf({
  dueJobs,
  oldestDueAt,
  now,
}: {
  dueJobs: number;
  oldestDueAt: number | null;
  now: number;
}): Check {
  if (oldestDueAt === null) return ok('backlog', 'no job is due');
  const waited = now - oldestDueAt;
  const message = `${dueJobs} due, the oldest for ${timespan(waited)}`;
  return waited < OLD_MS
    ? ok('backlog', message)
    : warn('backlog', `${message}: \`pawl jobs why <id>\` says what one waits for`);
}

function countsOf(counts: Readonly<Partial<Record<Status, number>>>): string {
  const entries = Object.entries(counts) as [Status, number][];
  const live = entries.filter(([status]) => !isTerminal(status)).reduce((sum, [, count]) => sum + count, 0);
  const listed = entries.map(([status, count]) => `${count} ${status}`).join(', ');
  return entries.length === 0 ? 'there are none' : `${live} unfinished (${listed})`;
}
