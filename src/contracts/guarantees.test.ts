import { expect, test } from 'vitest';
import type { Event } from '../kernel/index.js';
import { claimedBy, created, event, given, PASTS, waitingFor, historyOf } from '../testkit/index.js';
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
    waitingFor({}),
    event('wait.completed'),
  );
  expect(
    guaranteeEvents(changes).map(({ event: name, correlation_key, invocation }) => [
      name,
      correlation_key ?? invocation,
    ]),
  ).toEqual([
    ['tool_invocation_started', 'charge#1'],
    ['tool_invocation_finished', 'charge#1'],
    ['command_committed', 'charge#1'],
    ['job_waiting', 'approval'],
    ['wait_completed', 'approval'],
  ]);
  const ids = guaranteeEvents(changes).map(({ event_id }) => event_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(guaranteeEvents(changes)[0]).toMatchObject({
    job_id: 'job_00000001',
    attempt_id: 'worker-a/1',
    occurred_at: '2026-02-25T12:00:00Z',
  });
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
    waits: [{ correlation_key: 'approval', kind: 'signal', reason: 'manager' }],
  });
  const timed = given(running, waitingFor({ expiresAt: 1 })).job;
  expect(timed && guarantees.project(timed)).toBe('Waiting');
});
