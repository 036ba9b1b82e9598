import { expect, test } from 'vitest';
import type { Event } from '../kernel/index.js';
import { claimedBy, created, event, given, PASTS, waitingFor, historyOf, T0 } from '../testkit/index.js';
import { guaranteeEvents, guarantees, guaranteeView } from './index.js';

const running = [...created(), claimedBy('worker-a')];

test('GUA-15 the machine is the source’s, plus two ways to Cancelled', () => {
  const edges = (added: boolean) =>
    guarantees.machine.edges
      .filter((edge) => Boolean(edge.added) === added)
      .map(({ from, to }) => `${from}→${to}`);
  expect(edges(false)).toEqual([
    'null→Pending',
    'Pending→Running',
    'Running→Pending',
    'Running→Retrying',
    'Running→Waiting',
    'Running→Parked',
    'Running→Completed',
    'Running→Failed',
    'Running→Cancelled',
    'Waiting→Pending',
    'Waiting→Cancelled',
    'Parked→Pending',
    'Parked→Cancelled',
    'Retrying→Running',
  ]);
  expect(edges(true)).toEqual(['Pending→Cancelled', 'Retrying→Cancelled']);
});

test('GUA-15 its names: waits, tool invocations and their commit', () => {
  const changes = historyOf(
    ...running,
    event('effect.intended'),
    event('effect.recorded'),
    waitingFor({ expiresAt: T0 }),
    event('wait.completed'),
  );
  const events = guaranteeEvents(changes);
  expect(events.map((one) => one.event)).toEqual([
    'tool_invocation_started',
    'tool_invocation_finished',
    'command_committed',
    'job_waiting',
    'wait_completed',
  ]);
  const common = { job_id: 'job_00000001', attempt_id: 'worker-a/1', occurred_at: '2026-02-25T12:00:00Z' };
  expect(events[0]).toEqual({
    ...common,
    event_id: 'evt_job_00000001_4_0',
    event: 'tool_invocation_started',
    step: 'charge',
    occurrence: 1,
    entry: 1,
  });
  expect(events[3]).toMatchObject({
    ...common,
    correlation_key: 'approval',
    kind: 'signal',
    expires_at: '2026-02-25T12:00:00Z',
  });
  expect(events[4]).toMatchObject({ ...common, correlation_key: 'approval', outcome: 'received' });
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
});

test('GUA-15 a reconciled effect is committed only if it happened', () => {
  const names = (verdict: 'happened' | 'notHappened') =>
    guaranteeEvents(
      historyOf(...running, event('effect.intended'), event('effect.reconciled', { verdict })),
    ).map((one) => one.event);
  expect(names('happened')).toEqual([
    'tool_invocation_started',
    'tool_invocation_finished',
    'command_committed',
  ]);
  expect(names('notHappened')).toEqual(['tool_invocation_started']);
});

test('GUA-15 failures are retryable while retries are left, and permanent at the end', () => {
  const view = (past: readonly Event[]) => {
    const { job } = given(past);
    return job && guaranteeView(job);
  };
  expect(view(PASTS.retrying)).toMatchObject({ status: 'Retrying', failure_class: 'retryable_failure' });
  expect(view(PASTS.failed)).toMatchObject({ status: 'Failed', failure_class: 'permanent_failure' });
  expect(view(PASTS.queued)).toMatchObject({ status: 'Pending', failure_class: null, attempt_id: null });
});

test('Parked is waiting for people without an end', () => {
  const { job } = given(running, waitingFor({ reason: 'manager' }));
  expect(job && guaranteeView(job)).toMatchObject({
    status: 'Parked',
    waits: [{ correlation_key: 'approval', kind: 'signal', reason: 'manager', expires_at: null }],
  });
  const timed = given(running, waitingFor({ expiresAt: 1 })).job;
  expect(timed && guarantees.project(timed)).toBe('Waiting');
});
