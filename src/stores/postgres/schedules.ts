import { must } from '../../kernel/index.js';
import type { RecordPut, Reply, Schedule, ScheduleRef } from '../../ports/store.js';
import type { Answers } from '../group-commit.js';
import { oneAtATime } from './one-at-a-time.js';
import { putRecord } from './records.js';
import { NOW, type Queries } from './session.js';

/** A schedule, and the version that it takes the place of. */
export type SchedulePut = { readonly row: Schedule; readonly expected: number };

/**
 * Schedules that are saved together: a thousand of them are due at midnight. Rows are locked in the order of their names, so
 * that two processes which save the same ones do not wait for each other.
 */
export function putSchedules(
  db: Queries,
  puts: readonly SchedulePut[],
): Promise<Answers<Reply<{ saved: boolean }>>> {
  return oneAtATime(
    puts,
    ({ row }) => nameOf(row),
    (different) => putDifferent(db, different),
  );
}

async function putDifferent(db: Queries, puts: readonly SchedulePut[]): Promise<Reply<{ saved: boolean }>[]> {
  const rows = await db.rows<{ now: number } & (ScheduleRef | Record<keyof ScheduleRef, null>)>(
    `WITH asked AS (SELECT * FROM unnest($2::text[], $3::text[], $4::int[], $5::bigint[], $6::text[], $7::int[])
       AS a (tenant_id, schedule_id, version, next_fire_at, body, expected)),
     locked AS (SELECT a.*, s.version AS found FROM asked a
       JOIN pawl.schedules s ON s.tenant_id = a.tenant_id AND s.schedule_id = a.schedule_id
       ORDER BY s.tenant_id, s.schedule_id FOR UPDATE OF s),
     changed AS (UPDATE pawl.schedules s SET version = l.version, next_fire_at = l.next_fire_at, body = l.body FROM locked l
       WHERE s.tenant_id = l.tenant_id AND s.schedule_id = l.schedule_id AND l.found = l.expected
       RETURNING s.tenant_id, s.schedule_id),
     made AS (INSERT INTO pawl.schedules (tenant_id, schedule_id, version, next_fire_at, body)
       SELECT tenant_id, schedule_id, version, next_fire_at, body FROM asked WHERE expected = 0
       ORDER BY tenant_id COLLATE "C", schedule_id COLLATE "C"
       ON CONFLICT DO NOTHING RETURNING tenant_id, schedule_id)
     SELECT ${NOW} AS now, saved.tenant_id AS "tenantId", saved.schedule_id AS "scheduleId"
     FROM (SELECT) AS one LEFT JOIN (SELECT * FROM changed UNION ALL SELECT * FROM made) saved ON true`,
    [
      db.fixedNow(),
      puts.map(({ row }) => row.tenantId),
      puts.map(({ row }) => row.scheduleId),
      puts.map(({ row }) => row.version),
      puts.map(({ row }) => row.nextFireAt),
      puts.map(({ row }) => row.body),
      puts.map(({ expected }) => expected),
    ],
  );
  const { now } = must(rows[0], 'the time is always told');
  const saved = new Set(rows.flatMap((row) => (row.scheduleId === null ? [] : [nameOf(row)])));
  return puts.map(({ row }) => ({ now, saved: saved.has(nameOf(row)) }));
}

/** A new schedule with what it is known by. Always in this order, so that nobody waits for one who waits for them. */
export async function makeKnown(
  db: Queries,
  row: Schedule,
  { record, expected }: RecordPut,
): Promise<Reply<{ saved: boolean }>> {
  const [made] = await putDifferent(db, [{ row, expected: 0 }]);
  if (!made?.saved) return must(made, 'one was asked for');
  const known = await putRecord(db, record, expected);
  if (!known.saved) await deleteSchedule(db, row);
  return known;
}

const nameOf = ({ tenantId, scheduleId }: ScheduleRef): string => `${tenantId} ${scheduleId}`;

export async function deleteSchedule(
  db: Queries,
  { tenantId, scheduleId }: ScheduleRef,
): Promise<Reply<{ deleted: boolean }>> {
  const deleted = await db.rows(
    'DELETE FROM pawl.schedules WHERE tenant_id = $1 AND schedule_id = $2 RETURNING 1',
    [tenantId, scheduleId],
  );
  return { now: await db.now(), deleted: deleted.length > 0 };
}

const SCHEDULE =
  'tenant_id AS "tenantId", schedule_id AS "scheduleId", version, next_fire_at AS "nextFireAt", body';

export async function schedule(
  db: Queries,
  { tenantId, scheduleId }: ScheduleRef,
): Promise<Reply<{ schedule: Schedule | null }>> {
  const sql = `SELECT ${SCHEDULE} FROM pawl.schedules WHERE tenant_id = $1 AND schedule_id = $2`;
  const [found = null] = await db.rows<Schedule>(sql, [tenantId, scheduleId]);
  return { now: await db.now(), schedule: found };
}

export async function schedules(
  db: Queries,
  { tenantId, after, limit }: { tenantId: string | null; after: ScheduleRef | null; limit: number },
): Promise<Reply<{ schedules: Schedule[] }>> {
  const found = await db.rows<Schedule>(
    `SELECT ${SCHEDULE} FROM pawl.schedules WHERE ($1::text IS NULL OR tenant_id = $1) AND (tenant_id, schedule_id) > ($2, $3)
     ORDER BY tenant_id, schedule_id LIMIT $4`,
    [tenantId, after?.tenantId ?? '', after?.scheduleId ?? '', limit],
  );
  return { now: await db.now(), schedules: found };
}

export async function dueSchedules(
  db: Queries,
  { limit }: { limit: number },
): Promise<Reply<{ schedules: Schedule[] }>> {
  const now = await db.now();
  const found = await db.rows<Schedule>(
    `SELECT ${SCHEDULE} FROM pawl.schedules WHERE next_fire_at <= $1 ORDER BY next_fire_at, tenant_id, schedule_id LIMIT $2`,
    [now, limit],
  );
  return { now, schedules: found };
}
