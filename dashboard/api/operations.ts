import { call, get, post, type Query } from './call.js';
import { anything, flag, list, nullable, number, object, oneOf, optional, text, type Of } from './shape.js';

const overview = object({
  counted_at: text,
  live: list(object({ status: text, count: number })),
  dead_letters_open: number,
  queues: list(object({ queue: text, oldest_due_at: text })),
});
export type Overview = Of<typeof overview>;
export const readOverview = (signal: AbortSignal): Promise<Overview> =>
  get('/api/v1/overview', overview, { signal });

const ready = object({ status: oneOf('ready') });
export const readReady = (signal: AbortSignal): Promise<unknown> => get('/readyz', ready, { signal });

const queues = object({
  queues: list(text),
  paused: list(object({ queue: text, paused_by: text, since: text })),
});
export type Queues = Of<typeof queues>;
export const readQueues = (signal: AbortSignal): Promise<Queues> => get('/api/v1/queues', queues, { signal });
export const switchQueue = (queue: string, verb: 'pause' | 'resume', once: string): Promise<unknown> =>
  post(`/api/v1/queues/${encodeURIComponent(queue)}/${verb}`, anything, {}, once);

const workers = object({
  workers: list(object({ worker_id: text, incarnation: text, lease_until: text, queues: list(text) })),
});
export type Worker = Of<typeof workers>['workers'][number];
export const readWorkers = async (signal: AbortSignal): Promise<readonly Worker[]> =>
  (await get('/api/v1/workers', workers, { signal })).workers;

const schedule = object({
  schedule_id: text,
  job_type: text,
  schedule_type: oneOf('at', 'every', 'cron', 'daily'),
  at: optional(text),
  every_ms: optional(number),
  cron: optional(text),
  daily_at: optional(text),
  time_zone: optional(text),
  overlap: text,
  catch_up: text,
  payload: anything,
  paused: flag,
  next_fire_at: nullable(text),
  last_fire_at: nullable(text),
  last_job_id: nullable(text),
  skipped: number,
});
export type Schedule = Of<typeof schedule>;
const schedules = object({ schedules: list(schedule), next_cursor: nullable(text) });
const SCHEDULES = '/api/v1/schedules';
const scheduleAt = (id: string): string => `${SCHEDULES}/${encodeURIComponent(id)}`;

export const readSchedules = (query: Query, signal: AbortSignal): Promise<Of<typeof schedules>> =>
  get(SCHEDULES, schedules, { query, signal });
/** Pages that are read where one looks for something among them. */
const MOST_PAGES = 5;

/** A thousand at most: nobody looks for more here. */
export async function readManySchedules(signal: AbortSignal): Promise<readonly Schedule[]> {
  const all: Schedule[] = [];
  let cursor: string | null = '';
  for (let pages = 0; pages < MOST_PAGES && cursor !== null; pages++) {
    const page: Of<typeof schedules> = await readSchedules({ cursor, limit: 200 }, signal);
    all.push(...page.schedules);
    cursor = page.next_cursor;
  }
  return all;
}
export const switchSchedule = (id: string, verb: 'pause' | 'resume', once: string): Promise<unknown> =>
  post(`${scheduleAt(id)}/${verb}`, anything, {}, once);
export const triggerSchedule = (id: string, once: string): Promise<{ readonly job_id: string }> =>
  post(`${scheduleAt(id)}/trigger`, object({ job_id: text }), {}, once);
export const deleteSchedule = (id: string, once: string): Promise<unknown> =>
  call('DELETE', scheduleAt(id), anything, { once });

const effects = object({
  effects: list(
    object({
      job_id: text,
      job_type: text,
      step: text,
      occurrence: number,
      entry: number,
      waiting_since: text,
    }),
  ),
});
export type UnknownEffect = Of<typeof effects>['effects'][number];
export const readUnknownEffects = async (signal: AbortSignal): Promise<readonly UnknownEffect[]> =>
  (await get('/api/v1/effects/unknown', effects, { signal })).effects;

const dead = object({
  entries: list(
    object({ entry_id: text, subscription_id: text, job_id: nullable(text), tries: number, since: text }),
  ),
  next_cursor: nullable(text),
});
export type DeadCallbacks = Of<typeof dead>;
export const readDeadCallbacks = (query: Query, signal: AbortSignal): Promise<DeadCallbacks> =>
  get('/api/v1/callbacks/dead', dead, { query, signal });
export const redrive = (entryIds: readonly string[], once: string): Promise<{ readonly redriven: number }> =>
  post('/api/v1/callbacks/dead/redrive', object({ redriven: number }), { entry_ids: entryIds }, once);

const subscriptions = object({
  subscriptions: list(
    object({
      subscription_id: text,
      url: text,
      contract: text,
      events: list(text),
      job_types: nullable(list(text)),
      created_at: text,
    }),
  ),
});
export type Subscription = Of<typeof subscriptions>['subscriptions'][number];
export const readSubscriptions = async (signal: AbortSignal): Promise<readonly Subscription[]> =>
  (await get('/api/v1/callbacks', subscriptions, { signal })).subscriptions;

const audit = object({
  entries: list(
    object({ id: text, action: text, subject: text, by: text, at: text, reason: nullable(text) }),
  ),
  next_cursor: nullable(text),
});
export type AuditPage = Of<typeof audit>;
export const readAudit = (query: Query, signal: AbortSignal): Promise<AuditPage> =>
  get('/api/v1/audit', audit, { query, signal });
