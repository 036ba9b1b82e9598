import { z } from 'zod';
import { utc, utcOrNull } from '../contracts/index.js';
import { toJsonText } from '../engine/json-text.js';
import { DEFAULT_SETTINGS } from '../engine/new-job.js';
import type { ScheduledWork } from '../engine/schedules/manage.js';
import {
  CATCH_UP_POLICIES,
  OVERLAP_POLICIES,
  type CatchUpPolicy,
  type OverlapPolicy,
  type Schedule,
} from '../engine/schedules/schedule.js';
import { invalid, type When } from '../engine/schedules/timing.js';
import { ERRORS, PawlError } from '../errors.js';
import { SCHEDULE_TYPES, type ScheduleType } from '../kernel/index.js';
import { defined } from '../engine/defined.js';
import { utcTime, utcTimeOrNull } from './fields.js';
import type { ApiRequest } from './route.js';

/** What says when something recurs, and what of it may be left out. Read by `whenOf`, which names a bad field. */
export const recurringFields = {
  every_ms: z.unknown().optional(),
  from: z.unknown().optional(),
  cron: z.unknown().optional(),
  daily_at: z.unknown().optional(),
  time_zone: z.unknown().optional(),
  overlap: z.unknown().optional(),
  catch_up: z.unknown().optional(),
};
export type RecurringFields = { readonly [K in keyof typeof recurringFields]?: unknown };

export const recurringView = z.strictObject({
  schedule_id: z.string(),
  job_type: z.string(),
  schedule_type: z.enum(SCHEDULE_TYPES),
  at: utcTime.optional(),
  every_ms: z.int().optional(),
  from: utcTime.optional(),
  cron: z.string().optional(),
  daily_at: z.string().optional(),
  time_zone: z.string().optional(),
  overlap: z.enum(OVERLAP_POLICIES),
  catch_up: z.enum(CATCH_UP_POLICIES),
  payload: z.unknown(),
  paused: z.boolean(),
  next_fire_at: utcTimeOrNull,
  last_fire_at: utcTimeOrNull,
  last_job_id: z.string().nullable(),
  skipped: z.int(),
  version: z.int(),
  created_at: utcTime,
});

export function scheduleView(schedule: Schedule): z.output<typeof recurringView> {
  const { timing, task } = schedule;
  return {
    schedule_id: schedule.scheduleId,
    job_type: task.name,
    schedule_type: timing.type,
    ...(timing.type === 'at' && { at: utc(timing.at) }),
    ...(timing.type === 'every' && { every_ms: timing.everyMs, from: utc(timing.from) }),
    ...(timing.type === 'cron' && { cron: timing.cron, time_zone: timing.zone }),
    ...(timing.type === 'daily' && { daily_at: timing.time, time_zone: timing.zone }),
    overlap: schedule.overlap,
    catch_up: schedule.catchUp,
    payload: JSON.parse(schedule.input) as unknown,
    paused: schedule.paused,
    next_fire_at: utcOrNull(schedule.nextFireAt),
    last_fire_at: utcOrNull(schedule.lastFireAt),
    last_job_id: schedule.lastJobId,
    skipped: schedule.skipped,
    version: schedule.version,
    created_at: utc(schedule.createdAt),
  };
}

const MOST_WORD = 200;

/** The field that each schedule type needs. */
const NEEDED = { at: 'scheduled_at', every: 'every_ms', cron: 'cron', daily: 'daily_at' } as const;

/** When it fires, by the fields of a request. The engine judges the values; here it is only said what they are. */
export function whenOf(
  type: ScheduleType,
  fields: RecurringFields & { readonly scheduled_at?: unknown },
): When & { overlap?: OverlapPolicy; catchUp?: CatchUpPolicy } {
  const needed = NEEDED[type];
  const value = fields[needed];
  if (value === undefined || value === null)
    throw invalid(needed, `is missing for the schedule type '${type}'`);
  for (const other of Object.values(NEEDED)) {
    if (other !== needed && fields[other] !== undefined) {
      throw invalid(other, `has no meaning for the schedule type '${type}'`);
    }
  }
  const { from, time_zone: zone, overlap, catch_up: catchUp } = fields;
  const timing: When = type === 'every' ? { every: number(needed, value) } : { [type]: word(needed, value) };
  return {
    ...timing,
    ...defined({
      from: from === undefined ? undefined : word('from', from),
      zone: zone === undefined ? undefined : word('time_zone', zone),
      overlap: overlap === undefined ? undefined : oneOf('overlap', overlap, OVERLAP_POLICIES),
      catchUp: catchUp === undefined ? undefined : oneOf('catch_up', catchUp, CATCH_UP_POLICIES),
    }),
  };
}

/** What a request calls the fields that the engine has other names for. */
const ASKED_AS: Readonly<Record<string, string>> = {
  at: 'scheduled_at',
  every: 'every_ms',
  daily: 'daily_at',
  zone: 'time_zone',
  scheduleId: 'task_id',
};

/** Lets the engine judge a schedule, and says what it finds wrong in the words of the request. */
export async function judged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'TASK_INVALID_SCHEDULE') throw error;
    const field = String(error.details['field']);
    const problem = error.message.slice(field.length + 1, -` ${ERRORS[error.code].advice}`.length - 1);
    throw invalid(ASKED_AS[field] ?? field, problem);
  }
}

/** What is done at each firing. */
export async function workOf(
  { tasks, defaultTask }: Pick<ApiRequest<unknown, unknown, unknown>, 'tasks' | 'defaultTask'>,
  asked: {
    readonly job_type?: string | undefined;
    readonly payload?: unknown;
    readonly timeout_ms?: number | null | undefined;
    readonly max_retries?: number | undefined;
  },
): Promise<ScheduledWork> {
  const { job_type: name = defaultTask, payload, timeout_ms: timeoutMs, max_retries: maxRetries } = asked;
  const what = `the payload of '${name}'`;
  const definition = tasks.get(name);
  const {
    readInput,
    readStored: _stored,
    run: _run,
    rate: _rate,
    concurrency,
    ...settings
  } = definition ?? {
    ...DEFAULT_SETTINGS,
    name,
    readInput: null,
    readStored: null,
    run: null,
    rate: null,
    concurrency: null,
  };
  const read = readInput
    ? await readInput(payload ?? null, what)
    : { value: null, text: toJsonText(payload, what) };
  return {
    task: {
      ...settings,
      ...defined({ timeoutMs }),
      retry: { ...settings.retry, ...defined({ maxRetries }) },
    },
    input: read.text,
    concurrencyKey: concurrency?.key(read.value) ?? null,
  };
}

/** A value in a message, which has to stay readable. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function word(field: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= MOST_WORD) return value;
  throw invalid(field, `${shown(value)} is no text of up to ${MOST_WORD} characters`);
}

function number(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(field, `${shown(value)} is no whole number above 0`);
}

function oneOf<T extends string>(field: string, value: unknown, known: readonly T[]): T {
  if (known.includes(value as T)) return value as T;
  throw invalid(field, `${shown(value)} is none of ${known.join(', ')}`);
}
