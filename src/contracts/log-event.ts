import type { Change, Event, Status } from '../kernel/index.js';
import { eventIdOf } from './contract.js';
import { payloadValue } from './payload-value.js';
import { snakeCase } from './snake-case.js';
import { utc } from './utc.js';

/** An event in the engine's own words, with every payload as the value that it is. */
export type LogEvent = {
  readonly event_id: string;
  readonly job_id: string;
  readonly tenant_id: string;
  readonly task: string;
  readonly rev: number;
  readonly type: Event['type'];
  readonly occurred_at: string;
  readonly actor: string;
  /** The job's state after it. */
  readonly status: Status;
  /** What the event says besides, by its type. */
  readonly data: Readonly<Record<string, unknown>>;
};

/** Members of events that hold JSON as text. */
const PAYLOADS: ReadonlySet<string> = new Set(['input', 'output', 'result', 'payload', 'state']);

export function logEvent(change: Change): LogEvent {
  const { event, after, rev } = change;
  const { type, at, actor, ...rest } = event;
  return {
    event_id: eventIdOf(change),
    job_id: after.spec.jobId,
    tenant_id: after.spec.tenantId,
    task: after.spec.task,
    rev,
    type,
    occurred_at: utc(at),
    actor,
    status: after.status,
    data: Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [
        snakeCase(name),
        PAYLOADS.has(name) && typeof value === 'string' ? payloadValue(value) : plain(name, value),
      ]),
    ),
  };
}

/** Its names are those of the application's steps. */
const BY_STEP = 'occurrences';

/** Names within are of the engine, not of a payload: they are said in this vocabulary's way too. */
function plain(name: string, value: unknown): unknown {
  if (typeof value === 'number' && name.endsWith('At')) return utc(value);
  if (Array.isArray(value)) return value.map((one) => plain(name, one));
  if (typeof value !== 'object' || value === null || name === BY_STEP) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [snakeCase(member), plain(member, inner)]),
  );
}
