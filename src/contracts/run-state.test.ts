import { describe, expect, test } from 'vitest';
import { effectDecisionWait, type Event } from '../kernel/index.js';
import {
  aWait,
  claimedBy,
  created,
  deadLettered,
  event,
  interrupted,
  PASTS,
  T0,
  waitingFor,
  historyOf,
} from '../testkit/index.js';
import { runCallbacks, runSnapshot, runState } from './index.js';

const running = [...created(), claimedBy('worker-a')];
const snapshot = (...events: Parameters<typeof historyOf>) => {
  const changes = historyOf(...events);
  const last = changes.at(-1);
  if (!last) throw new Error('no changes');
  return runSnapshot(last.after, changes);
};
const seconds = (s: number) => T0 + s * 1_000;

test('RST-8 the machine is the source’s, plus a way to cancel what has not started', () => {
  expect(
    runState.machine.edges.map(({ from, to, added }) => `${from}→${to}${added ? ' added' : ''}`),
  ).toEqual([
    'null→queued',
    'queued→running',
    'running→success',
    'running→failed',
    'running→canceled',
    'running→interrupted',
    'queued→canceled added',
  ]);
});

describe('RST-7 the snapshot', () => {
  test('RST-7 a finished run, with its steps and their times', () => {
    expect(
      snapshot(
        ...running,
        event('step.failed', { startedAt: seconds(0), at: seconds(1) }),
        event('step.recorded', { startedAt: seconds(2), at: seconds(3) }),
        event('step.recorded', { occurrence: 2, startedAt: seconds(3), at: seconds(4) }),
        event('effect.intended', { at: seconds(4) }),
        event('effect.recorded', { at: seconds(5) }),
        event('job.succeeded', { at: seconds(6) }),
      ),
    ).toEqual({
      run_id: 'job_00000001',
      workflow_name: 'order',
      status: 'success',
      message: null,
      last_error: null,
      interrupted_reason: null,
      version: 9,
      started_at: '2026-02-25T12:00:00Z',
      finished_at: '2026-02-25T12:00:06Z',
      updated_at: '2026-02-25T12:00:06Z',
      reconciliation: null,
      steps: [
        {
          name: 'quote',
          status: 'success',
          started_at: '2026-02-25T12:00:02Z',
          finished_at: '2026-02-25T12:00:03Z',
          message: null,
          hosts: {},
        },
        {
          name: 'quote#2',
          status: 'success',
          started_at: '2026-02-25T12:00:03Z',
          finished_at: '2026-02-25T12:00:04Z',
          message: null,
          hosts: {},
        },
        {
          name: 'charge',
          status: 'success',
          started_at: '2026-02-25T12:00:04Z',
          finished_at: '2026-02-25T12:00:05Z',
          message: null,
          hosts: {},
        },
      ],
    });
  });

  const stepAfter = (...events: Event[]) => snapshot(...running, ...events).steps[0];

  test('RST-7 a step tells what it is doing', () => {
    expect(stepAfter(event('step.failed'))).toMatchObject({
      status: 'running',
      finished_at: null,
      message: 'boom',
    });
    expect(stepAfter(event('step.failed', { nextTryAt: null }))).toMatchObject({
      status: 'failed',
      message: 'boom',
    });
    const intended = event('effect.intended');
    expect(stepAfter(intended)).toMatchObject({ name: 'charge', status: 'running' });
    expect(stepAfter(intended, event('effect.closed'))).toMatchObject({ status: 'failed', message: 'boom' });
    expect(stepAfter(intended, event('effect.unknown'))).toMatchObject({
      status: 'running',
      message: 'outcome unknown: boom',
    });
    const verdict = (v: 'happened' | 'notHappened' | 'cannotTell') =>
      stepAfter(intended, event('effect.reconciled', { verdict: v }));
    expect(verdict('happened')).toMatchObject({ status: 'success' });
    expect(verdict('notHappened')).toMatchObject({ status: 'failed', message: 'did not happen' });
    expect(verdict('cannotTell')).toMatchObject({ status: 'running' });
  });

  test('RST-7 of parallel waits, one may end before the others', () => {
    const second = aWait({ key: 'go', step: 'go' });
    const { steps, message, status } = snapshot(
      ...running,
      waitingFor({ reason: 'manager' }, second),
      event('wait.completed', { wait: second, at: seconds(1) }),
      claimedBy('worker-b'),
      event('child.started', { at: seconds(2) }),
      event('wait.begun', { at: seconds(3), waits: [] }),
    );
    expect({ status, message }).toEqual({ status: 'running', message: 'waiting for approval, ship#1' });
    expect(steps).toMatchObject([
      { name: 'approval', status: 'running', started_at: '2026-02-25T12:00:00Z', message: 'manager' },
      {
        name: 'go',
        status: 'success',
        started_at: '2026-02-25T12:00:00Z',
        finished_at: '2026-02-25T12:00:01Z',
      },
      { name: 'ship', status: 'running', started_at: '2026-02-25T12:00:02Z', message: 'job_child_01' },
    ]);
  });

  test('RST-7 a wait that ran out did not succeed', () => {
    expect(stepAfter(event('wait.completed', { outcome: 'elapsed' }))).toMatchObject({ status: 'success' });
    expect(stepAfter(event('wait.completed', { outcome: 'timeout' }))).toMatchObject({
      status: 'failed',
      message: 'timed out',
    });
    expect(stepAfter(event('wait.completed', { outcome: 'deadline' }))).toMatchObject({ status: 'failed' });
  });

  test('RST-7 a step that the run’s end cut short is interrupted, and the engine’s own steps are not shown', () => {
    const decision = effectDecisionWait({ step: 'charge', occurrence: 1, entry: 1 });
    expect(
      snapshot(...running, event('effect.intended'), waitingFor(decision), event('job.cancelled')).steps,
    ).toMatchObject([{ name: 'charge', status: 'interrupted' }]);
  });

  test('an interrupted run that will be resumed is running, and says why it stands still', () => {
    expect(snapshot(...PASTS.interrupted)).toMatchObject({
      status: 'running',
      interrupted_reason: 'lease_expired',
    });
  });

  test('a run whose recovery was aborted ends as interrupted, with its reason and error', () => {
    expect(
      snapshot(
        ...running,
        interrupted(),
        ...deadLettered({ from: 'interrupted', reason: 'recovery_aborted' }),
      ),
    ).toMatchObject({
      status: 'interrupted',
      interrupted_reason: 'lease_expired',
      last_error: { code: 'TASK_EXECUTION_FAILED', message: 'boom' },
      message: 'boom',
    });
  });
});

describe('RST-11 callbacks', () => {
  test('RST-11 one for each change of the run’s status, with the fixed fields', () => {
    const callbacks = runCallbacks(
      historyOf(...running, event('attempt.failed'), claimedBy('worker-b'), ...deadLettered()),
    );
    expect(callbacks.map(({ status }) => status)).toEqual(['queued', 'running', 'failed']);
    expect(callbacks.at(-1)).toEqual({
      run_id: 'job_00000001',
      workflow_name: 'order',
      status: 'failed',
      step: null,
      host: null,
      timestamp: '2026-02-25T12:00:00Z',
      error: { code: 'TASK_EXECUTION_FAILED', message: 'boom' },
      version: 8,
    });
    expect(callbacks[1]?.error).toBeNull();
    const canceled = runCallbacks(historyOf(...running, event('attempt.failed'), event('job.cancelled')));
    expect(canceled.at(-1)).toMatchObject({ status: 'canceled', error: null });
  });
});
