import { z } from 'zod';
import { CONTRACT_NAMES, guarantees, JOB_STATUSES, runState, taskRuns, tasks } from '../contracts/index.js';
import { SCHEDULE_TYPES, STATUSES } from '../kernel/index.js';
import { count, utcTime, utcTimeOrNull } from './fields.js';

/** What the contracts' views look like, for /openapi.json. Tests hold every answer against them. */

const machineStates = (states: readonly string[]) => z.enum(states as [string, ...string[]]);

export const jobView = z.strictObject({
  job_id: z.string(),
  tenant_id: z.string(),
  job_type: z.string(),
  status: machineStates(JOB_STATUSES),
  retry_count: count,
  idempotency_key: z.string(),
  trace_id: z.string(),
  error_code: z.string().nullable(),
  payload_json: z.unknown(),
  next_retry_at: utcTimeOrNull,
  result_json: z.unknown(),
  dlq_id: z.string().nullable(),
  requeued_from: z.string().nullable(),
  continues: z.string().nullable(),
  queue: z.string(),
  priority: z.int(),
  scheduled_at: utcTime,
  created_at: utcTime,
  updated_at: utcTime,
  started_at: utcTimeOrNull,
  finished_at: utcTimeOrNull,
});

export const taskView = z.strictObject({
  task_id: z.string(),
  schedule_type: z.enum(SCHEDULE_TYPES),
  state: machineStates(tasks.machine.states),
  attempt: count,
  max_retries: count,
  timeout_ms: count.nullable(),
  idempotency_key: z.string(),
  last_error_code: z.string().nullable(),
  last_error_reason: z.string().nullable(),
  created_at: utcTime,
  updated_at: utcTime,
  started_at: utcTimeOrNull,
  finished_at: utcTimeOrNull,
});

export const runView = z.strictObject({
  run_id: z.string(),
  task_id: z.string(),
  run_status: machineStates(taskRuns.machine.states),
  attempt: count,
  idempotency_key: z.string(),
  next_retry_at: utcTimeOrNull,
  error_code: z.string().nullable(),
  trace_id: z.string(),
  created_at: utcTime,
  updated_at: utcTime,
  started_at: utcTimeOrNull,
  finished_at: utcTimeOrNull,
});

const summary = z.strictObject({ code: z.string(), message: z.string() }).nullable();
const host = z.strictObject({
  status: z.string(),
  started_at: utcTimeOrNull,
  finished_at: utcTimeOrNull,
  message: z.string().nullable(),
  output: z.string().nullable(),
  output_truncated: z.boolean(),
});
export const stepSnapshot = z.strictObject({
  name: z.string(),
  status: z.string(),
  started_at: utcTimeOrNull,
  finished_at: utcTimeOrNull,
  message: z.string().nullable(),
  hosts: z.record(z.string(), host),
});
export const runSnapshot = z.strictObject({
  run_id: z.string(),
  workflow_name: z.string(),
  status: machineStates(runState.machine.states),
  message: z.string().nullable(),
  last_error: summary,
  interrupted_reason: z.string().nullable(),
  version: count,
  started_at: utcTimeOrNull,
  finished_at: utcTimeOrNull,
  updated_at: utcTime,
  reconciliation: z
    .strictObject({ outcome: z.string(), reason: z.string(), actor: z.string(), at: utcTime })
    .nullable(),
  steps: z.array(stepSnapshot),
});

export const guaranteeView = z.strictObject({
  job_id: z.string(),
  status: machineStates(guarantees.machine.states),
  attempt_id: z.string().nullable(),
  failure_class: z.enum(['retryable_failure', 'permanent_failure']).nullable(),
  waits: z.array(
    z.strictObject({
      correlation_key: z.string(),
      kind: z.string(),
      reason: z.string().nullable(),
      expires_at: utcTimeOrNull,
    }),
  ),
  created_at: utcTime,
  updated_at: utcTime,
});

export const logEventView = z.strictObject({
  event_id: z.string(),
  job_id: z.string(),
  tenant_id: z.string(),
  task: z.string(),
  rev: count,
  type: z.string(),
  occurred_at: utcTime,
  actor: z.string(),
  status: z.enum(STATUSES),
  data: z.record(z.string(), z.unknown()),
});

export const contractName = z.enum(CONTRACT_NAMES);
