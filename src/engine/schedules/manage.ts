import { PawlError } from '../../errors.js';
import type { JsonText, Timestamp } from '../../kernel/index.js';
import type { RecordPut } from '../../ports/store.js';
import type { Engine } from '../engine.js';
import type { TaskSettings } from '../new-job.js';
import { expectFireable, fire } from './fire.js';
import {
  CATCH_UP_POLICIES,
  nextRow,
  OVERLAP_POLICIES,
  readSchedule,
  type CatchUpPolicy,
  type OverlapPolicy,
  type Schedule,
  type ScheduleBody,
} from './schedule.js';
import { invalid, nextFire, readTiming, type Timing, type When } from './timing.js';

export type ScheduleOptions = When & {
  readonly scheduleId: string;
  readonly tenantId: string;
  readonly overlap?: OverlapPolicy;
  readonly catchUp?: CatchUpPolicy;
  readonly paused?: boolean;
};

export type ScheduledWork = {
  readonly task: TaskSettings;
  readonly input: JsonText;
  readonly concurrencyKey: string | null;
};

const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** So many are read at a time. */
const PAGE = 1_000;

/**
 * Creates a schedule, or makes the one that is there what is asked for. The same again changes nothing: it may be called
 * by every process at every start. One that is changed stays paused if it was. With other times it goes on from now; with the same ones
 * it goes on where it was, since what it has missed is still due.
 */
export async function putSchedule(
  engine: Engine,
  options: ScheduleOptions,
  work: ScheduledWork,
): Promise<Schedule> {
  return (await put(engine, options, work, { replace: true, key: null })).schedule;
}

/** The same where one that is there is left as it is, be it by its id or by its key. */
export function createSchedule(
  engine: Engine,
  options: ScheduleOptions,
  work: ScheduledWork,
  { key = null }: { readonly key?: string | null } = {},
): Promise<{ readonly schedule: Schedule; readonly isNew: boolean }> {
  return put(engine, options, work, { replace: false, key });
}

async function put(
  engine: Engine,
  options: ScheduleOptions,
  work: ScheduledWork,
  { replace, key }: { readonly replace: boolean; readonly key: string | null },
): Promise<{ readonly schedule: Schedule; readonly isNew: boolean }> {
  const { scheduleId, tenantId, overlap = 'skip', catchUp = 'latest', paused = false } = options;
  if (!ID.test(scheduleId)) throw invalid('scheduleId', `${JSON.stringify(scheduleId)} is no id`);
  if (!OVERLAP_POLICIES.includes(overlap))
    throw invalid('overlap', `is none of ${OVERLAP_POLICIES.join(', ')}`);
  if (!CATCH_UP_POLICIES.includes(catchUp))
    throw invalid('catchUp', `is none of ${CATCH_UP_POLICIES.join(', ')}`);
  for (;;) {
    const known = await findSchedule(engine, { tenantId, scheduleId });
    if (known && !replace) return { schedule: known, isNew: false };
    const owner = key === null ? null : await ownerOf(engine, { tenantId, key });
    if (owner?.schedule) return { schedule: owner.schedule, isNew: false };
    const now = engine.now();
    const timing = readTiming(
      known?.timing.type === 'every' && options.every !== undefined && options.from === undefined
        ? { ...options, from: known.timing.from }
        : options,
      now,
    );
    const asked = { timing, overlap, catchUp, ...work };
    if (known && isSame(known, asked)) return { schedule: known, isNew: false };
    const body: ScheduleBody = known
      ? { ...known, ...asked, ...(isSameTiming(known, asked) ? {} : beginAnew(known, timing, now)) }
      : { ...asked, paused, cursor: firstFire(timing, now), ...UNFIRED, createdAt: now };
    const named = key === null ? body : { ...body, key };
    const version = known?.version ?? 0;
    const next: Schedule = { ...named, tenantId, scheduleId, version, nextFireAt: null };
    expectFireable(engine, next);
    const row = nextRow(next, {});
    if ((await engine.store.putSchedule(row, version, owner?.leadTo(scheduleId))).saved) {
      if (row.nextFireAt !== null) engine.bells.schedules.ringAt(row.nextFireAt, now);
      return { schedule: readSchedule(row), isNew: known === null };
    }
  }
}

const UNFIRED = { lastFireAt: null, lastJobId: null, skipped: 0 } as const;

function firstFire(timing: Timing, now: Timestamp): Timestamp {
  const first = timing.type === 'at' ? timing.at : nextFire(timing, now);
  if (first === null) throw invalid(timing.type, 'never fires');
  return first;
}

/** Firings that wait for the job before them are left out with the times that they were of. */
function beginAnew(
  known: Schedule,
  timing: Timing,
  now: Timestamp,
): Pick<ScheduleBody, 'cursor' | 'skipped' | 'waiting'> {
  return { cursor: firstFire(timing, now), ...withoutWaiting(known) };
}

function isSameTiming(known: Schedule, asked: Pick<ScheduleBody, 'timing'>): boolean {
  return JSON.stringify(known.timing) === JSON.stringify(asked.timing);
}

function isSame(
  known: Schedule,
  asked: Pick<ScheduleBody, 'timing' | 'overlap' | 'catchUp'> & ScheduledWork,
): boolean {
  const { timing, overlap, catchUp, task, input, concurrencyKey } = known;
  return (
    JSON.stringify({ timing, overlap, catchUp, task, input, concurrencyKey }) ===
    JSON.stringify({
      timing: asked.timing,
      overlap: asked.overlap,
      catchUp: asked.catchUp,
      task: asked.task,
      input: asked.input,
      concurrencyKey: asked.concurrencyKey,
    })
  );
}

export type ScheduleRef = { readonly tenantId: string; readonly scheduleId: string };

/** All of them, by tenant and id. */
export async function listSchedules(engine: Engine, tenantId: string | null): Promise<Schedule[]> {
  const all: Schedule[] = [];
  for (;;) {
    const page = await schedulePage(engine, { tenantId, after: all.at(-1) ?? null, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

export async function schedulePage(
  engine: Engine,
  page: { readonly tenantId: string | null; readonly after: ScheduleRef | null; readonly limit: number },
): Promise<Schedule[]> {
  const { schedules } = await engine.store.schedules(page);
  return schedules.map(readSchedule);
}

export async function getSchedule(engine: Engine, ref: ScheduleRef): Promise<Schedule> {
  const found = await findSchedule(engine, ref);
  if (found) return found;
  throw new PawlError('SCHEDULE_NOT_FOUND', { detail: `there is no schedule '${ref.scheduleId}'` });
}

/**
 * A paused schedule makes no firings. Those that it missed are left out when it is resumed. What waits for the job before it was not
 * missed, and does so until then, unless it is left out as well.
 */
export async function pauseSchedule(
  engine: Engine,
  ref: ScheduleRef,
  { leaveOutWaiting = false }: { readonly leaveOutWaiting?: boolean } = {},
): Promise<void> {
  await change(engine, ref, (schedule) => ({
    paused: true,
    ...(leaveOutWaiting ? withoutWaiting(schedule) : {}),
  }));
}

export async function resumeSchedule(engine: Engine, ref: ScheduleRef): Promise<void> {
  await change(engine, ref, ({ paused, timing, cursor }) => {
    if (!paused) return {};
    return { paused: false, cursor: timing.type === 'at' ? cursor : nextFire(timing, engine.now()) };
  });
  engine.bells.schedules.ring();
}

function withoutWaiting({ skipped, waiting = [] }: Schedule): Pick<ScheduleBody, 'skipped' | 'waiting'> {
  return { waiting: [], skipped: skipped + waiting.length };
}

/** A firing out of turn, now. It counts as one of the schedule, whatever its policies. `id`: of the job that it makes. */
export async function triggerSchedule(
  engine: Engine,
  ref: ScheduleRef,
  { id }: { readonly id?: string } = {},
): Promise<string> {
  const schedule = await getSchedule(engine, ref);
  const jobId = await fire(engine, schedule, engine.now(), id);
  await change(engine, ref, () => ({ lastJobId: jobId }));
  return jobId;
}

export async function deleteSchedule(engine: Engine, ref: ScheduleRef): Promise<void> {
  const { deleted } = await engine.store.deleteSchedule(ref);
  if (!deleted) await getSchedule(engine, ref);
}

async function change(
  engine: Engine,
  ref: ScheduleRef,
  how: (schedule: Schedule) => Partial<ScheduleBody>,
): Promise<void> {
  for (;;) {
    const schedule = await getSchedule(engine, ref);
    const { saved } = await engine.store.putSchedule(nextRow(schedule, how(schedule)), schedule.version);
    if (saved) return;
  }
}

/** Null: there is none. */
export async function findSchedule(engine: Engine, ref: ScheduleRef): Promise<Schedule | null> {
  const { schedule } = await engine.store.schedule(ref);
  return schedule && readSchedule(schedule);
}

/** Which schedule is known by a key; null: none. */
export async function findByKey(
  engine: Engine,
  ref: { readonly tenantId: string; readonly key: string },
): Promise<Schedule | null> {
  return (await ownerOf(engine, ref)).schedule;
}

/**
 * A record leads from the key to the schedule, which must say so too: the key of one that was deleted is free, also where another has its
 * id by now. `leadTo` is the record that leads to the next.
 */
async function ownerOf(
  engine: Engine,
  { tenantId, key }: { readonly tenantId: string; readonly key: string },
): Promise<{ readonly schedule: Schedule | null; readonly leadTo: (scheduleId: string) => RecordPut }> {
  const ref = { kind: 'task_key', tenantId, id: key } as const;
  const { record } = await engine.store.record(ref);
  const expected = record?.version ?? 0;
  const leadTo = (nextId: string): RecordPut => ({
    record: { ...ref, version: expected + 1, body: JSON.stringify({ scheduleId: nextId }) },
    expected,
  });
  if (record === null) return { schedule: null, leadTo };
  const { scheduleId } = JSON.parse(record.body) as { scheduleId: string };
  const found = await findSchedule(engine, { tenantId, scheduleId });
  return { schedule: found?.key === key ? found : null, leadTo };
}
