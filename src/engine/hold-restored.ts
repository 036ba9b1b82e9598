import { isTerminal, type Timestamp } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { deliverOutbox } from './deliver-outbox.js';
import type { Engine } from './engine.js';
import { listSchedules, pauseSchedule, type ScheduleRef } from './schedules/manage.js';
import type { Schedule } from './schedules/schedule.js';

export type RestoredOptions = {
  /** Only these tasks; null: all of them. */
  readonly tasks: readonly string[] | null;
  /** Tasks that may do again what they have done. */
  readonly except: readonly string[];
  readonly by: string;
  readonly onProgress?: (jobs: number) => void;
};

export type PausedSchedule = ScheduleRef & { readonly task: string; readonly dueAt: Timestamp };

type CountByTask = Readonly<Record<string, number>>;

export type RestoredReport = {
  readonly looked: number;
  /** How many were not held before. */
  readonly held: number;
  /** All that are unfinished and held. */
  readonly heldByTask: CountByTask;
  /** All that are unfinished and were left out. */
  readonly leftByTask: CountByTask;
  readonly pausedSchedules: readonly PausedSchedule[];
};

const PAGE = 500;
/** Mail that this process took and could not deliver, since it was ended, is left to the workers after so long. */
const MAIL_LEASE_MS = 30_000;

/**
 * After a restore to an earlier point the log no longer proves what ran, nor which tasks have effects: the first of a task, its
 * children and its firings may all have come later. So whatever would go on by itself is stopped until someone lets it go:
 * unfinished jobs are held, in whatever state they are, and schedules that are due are paused.
 */
export async function holdRestored(engine: Engine, options: RestoredOptions): Promise<RestoredReport> {
  const only = options.tasks && new Set(options.tasks);
  const except = new Set(options.except);
  const isMeant = (task: string): boolean => !except.has(task) && (only?.has(task) ?? true);
  const pausedSchedules = await pauseDue(engine, isMeant);
  // A child that its parent has asked for is no job yet, and would be claimed as soon as it is one.
  while (await deliverOutbox(engine, { leaseMs: MAIL_LEASE_MS }));
  return { ...(await holdUnfinished(engine.store, isMeant, options)), pausedSchedules };
}

async function holdUnfinished(
  store: Store,
  isMeant: (task: string) => boolean,
  { by, onProgress }: RestoredOptions,
): Promise<Omit<RestoredReport, 'pausedSchedules'>> {
  const [heldByTask, leftByTask] = [new Map<string, number>(), new Map<string, number>()];
  let looked = 0;
  let held = 0;
  for await (const rows of pagesOf(store)) {
    const unfinished = rows.filter(({ status }) => !isTerminal(status));
    const jobIds = unfinished.filter(({ task }) => isMeant(task)).map(({ jobId }) => jobId);
    if (jobIds.length > 0) held += (await store.hold({ jobIds, reason: 'restored', by })).changed;
    for (const { task } of unfinished) {
      const counts = isMeant(task) ? heldByTask : leftByTask;
      counts.set(task, (counts.get(task) ?? 0) + 1);
    }
    looked += rows.length;
    onProgress?.(looked);
  }
  const [byTask, left] = [Object.fromEntries(heldByTask), Object.fromEntries(leftByTask)];
  return { looked, held, heldByTask: byTask, leftByTask: left };
}

async function* pagesOf(store: Store): AsyncGenerator<Awaited<ReturnType<Store['list']>>['rows']> {
  let cursor: string | null = null;
  do {
    const page = await store.list({ tenantId: null, statuses: null, task: null, limit: PAGE, cursor });
    yield page.rows;
    cursor = page.next;
  } while (cursor !== null);
}

/**
 * A firing that is due may have taken place. Its job is gone with what kept it from being made twice. So what waits for the job before it
 * is left out, also of a schedule that was paused: it would take place when that is resumed.
 */
async function pauseDue(engine: Engine, isMeant: (task: string) => boolean): Promise<PausedSchedule[]> {
  const schedules = await listSchedules(engine, null);
  const now = engine.now();
  const due: PausedSchedule[] = [];
  for (const schedule of schedules) {
    const { tenantId, scheduleId, task, paused, waiting = [] } = schedule;
    const dueAt = firstFiring(schedule);
    if (!isMeant(task.name) || dueAt === null || dueAt > now) continue;
    if (paused && waiting.length === 0) continue;
    await pauseSchedule(engine, { tenantId, scheduleId }, { leaveOutWaiting: true });
    if (!paused) due.push({ tenantId, scheduleId, task: task.name, dueAt });
  }
  return due;
}

/** The first that has not been made. Those that wait for the job before them come first. */
function firstFiring({ waiting = [], cursor }: Schedule): Timestamp | null {
  return waiting[0] ?? cursor;
}
