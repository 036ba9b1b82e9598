import { describe, test } from 'vitest';
import { claimedBy, command, created, event, given, waitingFor } from '../../testkit/index.js';
import { effectDecisionWait, type CommandOf } from '../index.js';

const running = [created(), claimedBy('worker-a')] as const;
const intended = [...running, event('effect.intended')] as const;
const by = (attemptId: string) => ({ attemptId });

describe('an operator decides', () => {
  const entry = { step: 'charge', occurrence: 1, entry: 1 };
  const parked = [...intended, event('effect.unknown'), waitingFor(effectDecisionWait(entry))] as const;
  const resolve = (how: Partial<CommandOf<'resolve-effect'>>) =>
    given(...parked).when(command('resolve-effect', how));
  const completed = {
    type: 'wait.completed',
    actor: 'operator:key_1',
    outcome: 'received',
    payload: null,
  } as const;

  test('GUA-4 an operator’s verdict settles the entry and arrives as wait_completed, in one commit', () => {
    resolve({ verdict: { kind: 'happened', result: '{"id":1}' } })
      .thenEvents({ type: 'effect.reconciled', verdict: 'happened', result: '{"id":1}' }, completed)
      .thenJob({ status: 'unblocked' })
      .when(command('claim', by('worker-b/1')))
      .when(command('reconcile-effect', by('worker-b/1')))
      .thenRejected('EFFECT_RECORDED');
    resolve({ verdict: { kind: 'notHappened' } })
      .thenEvents({ type: 'effect.reconciled', verdict: 'notHappened', result: null }, completed)
      .when(command('claim', by('worker-b/1')))
      .when(command('begin-effect', by('worker-b/1')))
      .thenEvents({ type: 'effect.intended', entry: 2 });
  });

  test('GUA-4 fail leaves the entry unknown, for the worker to give up on', () => {
    resolve({ verdict: { kind: 'fail' } })
      .thenEvents(completed)
      .when(command('claim', by('worker-b/1')))
      .when(command('begin-effect', by('worker-b/1')))
      .thenRejected('EFFECT_BARRIER');
  });

  test('a result that turned up meanwhile beats the operator', () => {
    resolve({ storedResult: '"ch_1"' }).thenEvents(
      { type: 'effect.recorded', entry: 1, result: '"ch_1"' },
      completed,
    );
  });

  test('only the entry that the job is parked on can be resolved, and only once', () => {
    resolve({ entry: 2 }).thenRejected('WAIT_NOT_OPEN', { key: 'effect:charge#1/2' });
    given(...parked, event('effect.recorded'))
      .when(command('resolve-effect'))
      .thenRejected('EFFECT_RECORDED');
  });

  test('nobody but an operator ends the wait for a decision', () => {
    const { key } = effectDecisionWait(entry);
    given(...parked)
      .when(command('complete-wait', { key }))
      .thenRejected('WAIT_NOT_OPEN', { key });
    given(...parked)
      .when(command('signal', { key }))
      .thenRejected('INVALID_SIGNAL_KEY', { key });
    given(...intended)
      .when(command('consume-wait', { wait: effectDecisionWait(entry) }))
      .thenRejected('WAIT_NOT_OPEN', { key });
  });

  test('a job parks only on an effect whose outcome is open', () => {
    const park = (ref: typeof entry) => command('begin-wait', { waits: [effectDecisionWait(ref)] });
    given(...intended)
      .when(park(entry))
      .thenEvents({ type: 'wait.begun' });
    given(...intended)
      .when(park({ ...entry, entry: 2 }))
      .thenRejected('WAIT_NOT_OPEN');
    given(...intended)
      .when(park({ ...entry, step: 'mail' }))
      .thenRejected('WAIT_NOT_OPEN');
    given(...intended, event('effect.recorded'))
      .when(park(entry))
      .thenRejected('WAIT_NOT_OPEN');
    given(...intended, event('effect.closed'))
      .when(park(entry))
      .thenRejected('WAIT_NOT_OPEN');
  });

  test('a step of the longest name can park too', () => {
    const step = 'x'.repeat(200);
    given(...running, event('effect.intended', { step }))
      .when(command('begin-wait', { waits: [effectDecisionWait({ ...entry, step })] }))
      .thenEvents({ type: 'wait.begun' });
  });
});
