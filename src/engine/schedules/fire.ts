import { PawlError } from '../../errors.js';
import type { Job, Timestamp } from '../../kernel/index.js';
import { cancelJob } from '../operator.js';
import type { Engine } from '../engine.js';
import { newJob, type NewJob } from '../new-job.js';
import { createItem } from '../start-jobs.js';
import { callersPatience, send } from '../send.js';
import { nextRow, readSchedule, type Schedule, type ScheduleBody } from './schedule.js';
import { nextFire } from './timing.js';

const PAGE = 500;
/** Firings of one schedule in one round; the rest follow in the next. */
const MOST_FIRINGS = 100;
/** Times of one schedule that one round looks at: of one that fires every second, a weekend has more than may hold up the rest. */
const MOST_LOOKED_AT = 1_000;
/** Firings that wait for the job before them; the next are judged when there is room. */
const MOST_WAITING = 1_000;
/**
 * A firing that is later than this was missed, for those who do not want to catch up with all of them. Were it shorter, a slow store would
 * cost firings; were it longer, a short outage would be followed by a burst of them.
 */
const MISSED_AFTER_MS = 60_000;
/** How often a firing that waits for the job before it looks whether that has ended. */
const QUEUE_POLL_MS = 1_000;

/** Makes the firings that are due. Many may do so at once: a firing makes one job, whoever comes first. */
export async function fireDue(engine: Engine): Promise<boolean> {
  const { schedules } = await engine.store.dueSchedules({ limit: PAGE });
  await Promise.all(
    schedules.map(async (row) => {
      const schedule = readSchedule(row);
      try {
        await fireOne(engine, schedule);
      } catch (error) {
        if (error instanceof PawlError && error.retryable) throw error;
        // One that cannot be fired must not keep the others from it.
        engine.log.error('a schedule could not be fired', { scheduleId: schedule.scheduleId, error });
        await save(engine, schedule, {}, engine.now() + MISSED_AFTER_MS);
      }
    }),
  );
  for (const { nextFireAt } of schedules) {
    if (nextFireAt !== null) engine.bells.schedules.ringAt(nextFireAt, engine.now());
  }
  return schedules.length === PAGE;
}

async function fireOne(engine: Engine, schedule: Schedule): Promise<void> {
  const now = engine.now();
  const { due, cursor, missed } = dueFirings(schedule, now);
  let { lastJobId, lastFireAt } = schedule;
  let skipped = schedule.skipped + missed;
  const isLive = async () => lastJobId !== null && (await liveJob(engine, lastJobId)) !== null;
  for (const [index, fireAt] of due.entries()) {
    if (schedule.overlap !== 'allow' && (await isLive())) {
      if (schedule.overlap === 'queue') {
        const change = { cursor, waiting: due.slice(index), lastJobId, lastFireAt, skipped };
        await save(engine, schedule, change, now + QUEUE_POLL_MS);
        return;
      }
      if (schedule.overlap === 'skip') {
        skipped += 1;
        continue;
      }
      await cancelRunning(engine, lastJobId ?? '');
    }
    lastJobId = await fire(engine, schedule, fireAt);
    lastFireAt = fireAt;
  }
  const none = schedule.waiting === undefined ? {} : { waiting: [] };
  await save(engine, schedule, { cursor, lastJobId, lastFireAt, skipped, ...none });
}

type Due = {
  /** In order: those that have waited for the job before them come first. */
  readonly due: readonly Timestamp[];
  /** Where to go on. */
  readonly cursor: Timestamp | null;
  readonly missed: number;
};

/** What is due, by the catch-up policy, which judges each firing once. */
function dueFirings(schedule: Schedule, now: Timestamp): Due {
  const { timing, cursor: from, catchUp, waiting = [] } = schedule;
  const due = [...waiting];
  const most = Math.min(due.length + MOST_FIRINGS, MOST_WAITING);
  let missed = 0;
  let latest: Timestamp | null = null;
  let cursor = from;
  for (let looked = 0; looked < MOST_LOOKED_AT && due.length < most; looked++) {
    if (cursor === null || cursor > now) break;
    const isDue = takesPlace(schedule, cursor, now);
    if (isDue) due.push(cursor);
    // Of those that were missed the latest takes place, unless a later one does.
    if (latest !== null || (catchUp === 'none' && !isDue)) missed += 1;
    latest = catchUp === 'latest' && !isDue ? cursor : null;
    cursor = nextFire(timing, cursor);
  }
  if (latest === null) return { due, cursor, missed };
  // Not known to be the latest before all were looked at: the next round begins with it.
  const isKnown = cursor === null || cursor > now;
  return isKnown ? { due: [...due, latest], cursor, missed } : { due, cursor: latest, missed };
}

/**
 * A firing does, whatever others are missed with it: a single time; and one that comes in time. What is somewhat late because a scheduler
 * or its store is slow is not left out: only what nobody was there to make.
 */
function takesPlace({ timing, catchUp }: Schedule, fireAt: Timestamp, now: Timestamp): boolean {
  return timing.type === 'at' || catchUp === 'all' || fireAt >= now - MISSED_AFTER_MS;
}

/** Throws what is wrong with the jobs that a schedule would make: nobody is there to be told when it fires. */
export function expectFireable(engine: Engine, schedule: Schedule): void {
  createItem(engine, firingOf(engine, schedule, engine.now()), 'scheduler');
}

/** Starts the job of one firing; one that another has started is as good. */
export async function fire(
  engine: Engine,
  schedule: Schedule,
  fireAt: Timestamp,
  jobId?: string,
): Promise<string> {
  const item = createItem(engine, firingOf(engine, schedule, fireAt, jobId), 'scheduler');
  const {
    replies: [reply],
    told,
  } = await send(engine, [item], callersPatience(engine));
  if (reply?.ok && item.job) {
    engine.announce(item.job, { told });
    return item.jobId;
  }
  if (reply && !reply.ok && reply.code === 'IDENTITY_TAKEN')
    return reply.owners.find((id) => id !== null) ?? item.jobId;
  return item.jobId;
}

function firingOf(engine: Engine, schedule: Schedule, fireAt: Timestamp, jobId?: string): NewJob {
  const { tenantId, scheduleId, task, input, concurrencyKey, timing } = schedule;
  const { spec, identities } = newJob(engine, task, {
    input,
    concurrencyKey,
    options: { tenantId, ...(jobId === undefined ? {} : { jobId }) },
  });
  const firing = { tenantId, kind: 'firing', value: `${scheduleId}@${fireAt}` } as const;
  return {
    spec: { ...spec, scheduleType: timing.type, scheduledAt: fireAt, firedBy: { scheduleId, fireAt } },
    input,
    identities: [...identities, firing],
  };
}

async function liveJob(engine: Engine, jobId: string): Promise<Job | null> {
  const { found } = await engine.store.load(jobId);
  return found !== null && found.job.finishedAt === null ? found.job : null;
}

async function cancelRunning(engine: Engine, jobId: string): Promise<void> {
  try {
    const reason = 'the next firing of its schedule';
    await cancelJob(engine, jobId, { tenantId: null, actor: 'scheduler', reason });
  } catch (error) {
    // It ended in between, which is all that was wanted.
    if (!(error instanceof PawlError && error.code === 'INVALID_TRANSITION')) throw error;
  }
}

/** If someone else has changed the schedule meanwhile, they have seen to it. */
async function save(
  engine: Engine,
  schedule: Schedule,
  change: Partial<ScheduleBody>,
  lookAt?: Timestamp,
): Promise<void> {
  const row = nextRow(schedule, change, lookAt);
  await engine.store.putSchedule(row, schedule.version);
  if (row.nextFireAt !== null) engine.bells.schedules.ringAt(row.nextFireAt, engine.now());
}
