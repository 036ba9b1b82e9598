import { expect, test } from 'vitest';
import type { Event, Job } from '../kernel/index.js';
import { claimedBy, created, deadLettered, event, historyOf, interrupted, T0 } from '../testkit/index.js';
import { applyRunPatch, newRun, runEndOf, settledRun, utc, type RunSnapshot } from './index.js';

const jobAfter = (...events: Event[]): Job => {
  const last = historyOf(...created(), ...events).at(-1);
  if (!last) throw new Error('no changes');
  return last.after;
};
const running = claimedBy('worker-a');
const queued = newRun({ run_id: 'job_00000001', workflow_name: 'deploy', at: utc(T0) });
const begun: RunSnapshot = applyRunPatch(queued, {
  run_id: queued.run_id,
  updated_at: utc(T0),
  status: 'running',
  steps: [
    { name: 'copy', status: 'success', hosts: { a: { status: 'success' } } },
    { name: 'install', hosts: { a: { status: 'failed' }, b: {} } },
  ],
});
const ENDS = {
  success: [running, event('job.succeeded')],
  failed: [running, ...deadLettered()],
  interrupted: [running, interrupted(), ...deadLettered({ from: 'interrupted', reason: 'recovery_aborted' })],
  canceled: [running, event('job.cancelled')],
} as const;

test.each(Object.entries(ENDS))(
  'RST-8 a run whose tracker was not there to tell its end has the end of its job: %s',
  (status, events) => {
    const job = jobAfter(...events);
    expect(runEndOf(job)).toMatchObject({ status });
    const run = settledRun(begun, job);
    expect(run).toMatchObject({ status, version: begun.version + 1, finished_at: utc(T0) });
    expect(run.last_error).toEqual(runEndOf(job)?.error ?? null);
    expect(run.interrupted_reason).toBe(status === 'interrupted' ? 'boom' : null);
    // What had ended stays as it had.
    expect(run.steps).toMatchObject([
      { name: 'copy', status: 'success', hosts: { a: { status: 'success' } } },
      {
        name: 'install',
        status: 'interrupted',
        hosts: { a: { status: 'failed' }, b: { status: 'interrupted' } },
      },
    ]);
    // One that was not even told to have begun comes along its machine, too.
    const never = settledRun(queued, job);
    expect(never).toMatchObject({ status, version: queued.version + (status === 'canceled' ? 1 : 2) });
    // What a tracker has told to its end is not changed by how the job ended.
    for (const ended of [run, never]) expect(settledRun(ended, jobAfter(...ENDS.success))).toBe(ended);
  },
);

test('RST-8 a run whose job goes on is what its tracker says', () => {
  for (const job of [jobAfter(), jobAfter(running), jobAfter(running, interrupted())]) {
    expect(runEndOf(job)).toBeNull();
    expect(settledRun(begun, job)).toBe(begun);
  }
});
