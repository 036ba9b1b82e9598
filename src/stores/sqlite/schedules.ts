import type { RecordPut, Reply, Schedule, ScheduleRef } from '../../ports/store.js';
import { putRecord } from './records.js';
import type { Session } from './session.js';

/** A schedule, the version that it takes the place of, and what a new one is known by. */
export type SchedulePut = {
  readonly row: Schedule;
  readonly expected: number;
  readonly known: RecordPut | undefined;
};

export function putSchedule(db: Session, { row, expected, known }: SchedulePut): Reply<{ saved: boolean }> {
  const put = putRow(db, row, expected);
  if (!put.saved || known === undefined) return put;
  const { saved } = putRecord(db, known.record, known.expected);
  if (!saved) deleteSchedule(db, row);
  return { ...put, saved };
}

function putRow(
  db: Session,
  { tenantId, scheduleId, version, nextFireAt, body }: Schedule,
  expected: number,
): Reply<{ saved: boolean }> {
  const { changes } =
    expected === 0
      ? db.run(
          `INSERT INTO schedules (tenant_id, schedule_id, version, next_fire_at, body) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO NOTHING`,
          tenantId,
          scheduleId,
          version,
          nextFireAt,
          body,
        )
      : db.run(
          `UPDATE schedules SET version = ?, next_fire_at = ?, body = ?
           WHERE tenant_id = ? AND schedule_id = ? AND version = ?`,
          version,
          nextFireAt,
          body,
          tenantId,
          scheduleId,
          expected,
        );
  return { now: db.now(), saved: changes > 0 };
}

export function deleteSchedule(
  db: Session,
  { tenantId, scheduleId }: ScheduleRef,
): Reply<{ deleted: boolean }> {
  const sql = 'DELETE FROM schedules WHERE tenant_id = ? AND schedule_id = ?';
  return { now: db.now(), deleted: db.run(sql, tenantId, scheduleId).changes > 0 };
}

const SCHEDULE =
  'tenant_id AS tenantId, schedule_id AS scheduleId, version, next_fire_at AS nextFireAt, body';

export function schedule(
  db: Session,
  { tenantId, scheduleId }: ScheduleRef,
): Reply<{ schedule: Schedule | null }> {
  const sql = `SELECT ${SCHEDULE} FROM schedules WHERE tenant_id = ? AND schedule_id = ?`;
  const found = db.get<Schedule>(sql, tenantId, scheduleId);
  return { now: db.now(), schedule: found ? { ...found } : null };
}

export function schedules(
  db: Session,
  { tenantId, after, limit }: { tenantId: string | null; after: ScheduleRef | null; limit: number },
): Reply<{ schedules: Schedule[] }> {
  const rows = db.all<Schedule>(
    `SELECT ${SCHEDULE} FROM schedules WHERE tenant_id = ifnull(?, tenant_id) AND (tenant_id, schedule_id) > (?, ?)
     ORDER BY tenant_id, schedule_id LIMIT +?`,
    tenantId,
    after?.tenantId ?? '',
    after?.scheduleId ?? '',
    limit,
  );
  return { now: db.now(), schedules: rows.map((row) => ({ ...row })) };
}

export function dueSchedules(db: Session, { limit }: { limit: number }): Reply<{ schedules: Schedule[] }> {
  const now = db.now();
  const rows = db.all<Schedule>(
    `SELECT ${SCHEDULE} FROM schedules WHERE next_fire_at <= ? ORDER BY next_fire_at, tenant_id, schedule_id LIMIT +?`,
    now,
    limit,
  );
  return { now, schedules: rows.map((row) => ({ ...row })) };
}
