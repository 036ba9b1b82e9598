import type { Route } from '../../src/http/route.js';
import type { ApiRig } from './api-rig.js';

/** What there is to ask for: one of everything that a path can name, all of the tenant `default`. */
export type Sample = Readonly<
  Record<'jobId' | 'failedId' | 'taskId' | 'dlqId' | 'scheduleId' | 'keyId' | 'subscriptionId', string>
>;

/** Puts one of everything into the store. */
export async function sampleOf(rig: ApiRig): Promise<Sample> {
  const job = await rig.post('/api/v1/jobs', {
    job_type: 'echo',
    payload: { secret: 'of the default tenant' },
  });
  const failed = await rig.post('/api/v1/jobs', { job_type: 'echo' });
  const { data } = await rig.drill(String(failed.data['job_id']), '?force_fail=true');
  await rig.post('/api/v1/tasks', {
    task_id: 'task_of_default',
    schedule_type: 'at',
    scheduled_at: '2099-01-01T00:00:00Z',
  });
  const schedule = { job_type: 'echo', schedule_type: 'every', every_ms: 3_600_000 };
  await rig.call('PUT', '/api/v1/schedules/schedule_of_default', { body: schedule });
  const hook = await rig.post('/api/v1/callbacks', { url: 'https://example.com/hook' });
  const keys = await rig.get('/api/v1/keys', { key: 'admin' });
  return {
    jobId: String(job.data['job_id']),
    failedId: String(failed.data['job_id']),
    taskId: 'task_of_default',
    dlqId: String(data['dlq_id']),
    scheduleId: 'schedule_of_default',
    subscriptionId: String(hook.data['subscription_id']),
    keyId: (keys.data['keys'] as { key_id: string; role: string }[])[0]?.key_id ?? '',
  };
}

/** A request that each route takes, given what there is. */
export function requestOf(route: Route, sample: Sample): { readonly path: string; readonly body?: unknown } {
  const values: Readonly<Record<string, string>> = {
    job_id: sample.jobId,
    run_id: sample.jobId,
    task_id: sample.taskId,
    dlq_id: sample.dlqId,
    schedule_id: sample.scheduleId,
    key_id: sample.keyId,
    subscription_id: sample.subscriptionId,
    queue: 'default',
  };
  const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) => values[name] ?? `no-${name}`);
  if (route.body === null) return { path: `${path}${QUERIES[`${route.method} ${route.path}`] ?? ''}` };
  return { path, body: BODIES[`${route.method} ${route.path}`] ?? {} };
}

/** Where a request has to say more than a path can. */
const QUERIES: Readonly<Record<string, string>> = {
  'GET /api/v1/worker/jobs/:job_id/log': '?from_rev=1&limit=10',
};

/** Where an empty body will not do. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /api/v1/jobs': { job_type: 'echo' },
  'POST /api/v1/jobs/bulk': { jobs: [{ job_type: 'echo' }] },
  'POST /api/v1/tasks': { schedule_type: 'at', scheduled_at: '2099-01-01T00:00:00Z' },
  'POST /api/v1/task-runs': { task_id: 'a-task' },
  'POST /api/v1/runs': { workflow_name: 'echo' },
  'POST /api/v1/runs/:run_id/reconcile': { outcome: 'success', reason: 'it is live' },
  'PUT /api/v1/schedules/:schedule_id': { job_type: 'echo', schedule_type: 'every', every_ms: 60_000 },
  'POST /api/v1/callbacks': { url: 'https://example.com/hook' },
  'POST /api/v1/callbacks/dead/redrive': { entry_ids: ['no-entry'] },
  'POST /api/v1/keys': { role: 'viewer', name: 'a key' },
  'POST /api/v1/jobs/:job_id/signal': { correlation_key: 'go' },
  'POST /api/jobs/:job_id/signal': { correlation_key: 'go' },
  'POST /api/v1/jobs/:job_id/abandon': { reason: 'it never ends' },
  'POST /api/v1/jobs/:job_id/effects/resolve': { step: 'charge', verdict: 'happened' },
  'POST /api/v1/dlq/:dlq_id/discard': { reason: 'no longer wanted' },
};
