import { describe, test } from 'vitest';
import { aWait, claimedBy, command, created, event, given, PASTS } from '../../testkit/index.js';
import type { Event } from '../index.js';

describe('signal', () => {
  test('GUA-8 a signal completes the wait that is open for its key', () => {
    given(PASTS.waiting)
      .when(command('signal', { payload: '"yes"' }))
      .thenEvents({ type: 'wait.completed', outcome: 'received', payload: '"yes"' })
      .thenJob({ status: 'unblocked' });
  });

  test('GUA-8 a signal that arrives before its wait is accepted and leaves the job alone', () => {
    for (const state of ['scheduled', 'queued', 'running', 'unblocked', 'retrying', 'interrupted'] as const) {
      given(PASTS[state]).when(command('signal')).thenEvents().thenJob({ status: state });
    }
    given(PASTS.waiting)
      .when(command('signal', { key: 'later' }))
      .thenEvents()
      .thenJob({ status: 'waiting' });
  });

  test('GUA-8 a signal whose wait has begun, and is not over, is kept while another wakes the job', () => {
    const go = aWait({ key: 'go', step: 'go' });
    const woken = event('wait.completed', { wait: go });
    const past = [...created(), claimedBy('worker-a'), event('wait.begun', { waits: [aWait(), go] }), woken];
    given(...past)
      .when(command('signal'))
      .thenEvents()
      .thenJob({ status: 'unblocked' });
  });

  test('GUA-8 a signal whose wait has ended without it is refused: nobody would ever read it', () => {
    const timedOut = event('wait.completed', { outcome: 'timeout', payload: null });
    const isRefused = (...past: Event[]): void =>
      void given(...past)
        .when(command('signal'))
        .thenRejected('WAIT_NOT_OPEN', { key: 'approval' });
    isRefused(...PASTS.waiting, timedOut);
    isRefused(...PASTS.waiting, timedOut, claimedBy('worker-b'));
    // Behind a checkpoint only the name of the step is left of it.
    const checkpoint = event('checkpoint.saved', { occurrences: { approval: 1 } });
    isRefused(...PASTS.running, checkpoint);
    // One that it waited for and got is a duplicate, of which the job has had its use.
    given(...PASTS.unblocked)
      .when(command('signal'))
      .thenEvents();
  });

  test('GUA-8 a duplicate is accepted for ever and changes nothing', () => {
    for (const state of ['waiting', 'unblocked', 'succeeded', 'cancelled'] as const) {
      given(PASTS[state])
        .when(command('signal', { received: true }))
        .thenEvents()
        .thenJob({ status: state });
    }
  });

  test('GUA-8 a malformed or undeclared key is refused, even as a duplicate', () => {
    for (const key of ['', ' ', 'a b', '#', 'effect:charge#1/1', 'x'.repeat(129), '-first']) {
      given(PASTS.waiting)
        .when(command('signal', { key, received: true }))
        .thenRejected('INVALID_SIGNAL_KEY', { key });
    }
    const declared = created({ signals: ['approval'] });
    given(declared)
      .when(command('signal', { key: 'approval' }))
      .thenEvents();
    given(declared)
      .when(command('signal', { key: 'refund' }))
      .thenRejected('INVALID_SIGNAL_KEY', { key: 'refund' });
    given(created({ signals: [] }))
      .when(command('signal'))
      .thenRejected('INVALID_SIGNAL_KEY');
  });

  test('GUA-8 a new key on a terminal job is refused', () => {
    given(PASTS.succeeded)
      .when(command('signal'))
      .thenRejected('INVALID_TRANSITION', { from: 'succeeded', to: 'unblocked' });
  });
});
