import type { Reply, Schedule, ScheduleRef } from '../../ports/store.js';
import type { Queries } from './session.js';

export async function putSchedule(
  db: Queries,
  { tenantId, scheduleId, version, nextFireAt, body }: Schedule,
  expected: number,
): Promise<Reply<{ saved: boolean }>> {
  const saved =
    expected === 0
      ? await db.rows(
          `INSERT INTO pawl.schedules (tenant_id, schedule_id, version, next_fire_at, body) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT DO NOTHING RETURNING 1`,
          [tenantId, scheduleId, version, nextFireAt, body],
        )
      : await db.rows(
          `UPDATE pawl.schedules SET version = $3, next_fire_at = $4, body = $5
           WHERE tenant_id = $1 AND schedule_id = $2 AND version = $6 RETURNING 1`,
          [tenantId, scheduleId, version, nextFireAt, body, expected],
        );
  return { now: await db.now(), saved: saved.length > 0 };
}

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
  { tenantId, limit }: { tenantId: string | null; limit: number },
): Promise<Reply<{ schedules: Schedule[] }>> {
  const found = await db.rows<Schedule>(
    `SELECT ${SCHEDULE} FROM pawl.schedules WHERE $1::text IS NULL OR tenant_id = $1 ORDER BY tenant_id, schedule_id LIMIT $2`,
    [tenantId, limit],
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
