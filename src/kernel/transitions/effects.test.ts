import { describe, expect, test } from 'vitest';
import {
  aFailure,
  claimedBy,
  command,
  created,
  event,
  given,
  interrupted,
  PASTS,
  T0,
} from '../../testkit/index.js';
import { acquire, type EffectStep, type Event } from '../index.js';

const running = [created(), claimedBy('worker-a')] as const;
const intended = [...running, event('effect.intended')] as const;
/** worker-a died inside the body, worker-b has the job. */
const orphaned: readonly Event[] = [...intended.flat(), interrupted(), claimedBy('worker-b')];
const by = (attemptId: string) => ({ attemptId });

describe('the ledger', () => {
  const request = {
    attemptId: 'worker-a/1',
    currentAttemptId: 'worker-a/1',
    tool: 'stripe.charge',
    effectKey: 'key-of-charge',
    bodyMayRun: false,
    storedResult: null,
  };
  const row: EffectStep = {
    kind: 'effect',
    tool: 'stripe.charge',
    effectKey: 'key-of-charge',
    entry: 1,
    state: 'open',
    attemptId: 'worker-z/1',
    worker: { id: 'worker-z', incarnation: 'worker-z.1' },
    intendedAt: T0,
    input: '{}',
    result: null,
    failure: null,
    failedInAttempt: null,
  };

  test('GUA-3 AllowExecute: no row, or the row was closed', () => {
    expect(acquire(undefined, request)).toEqual({ verdict: 'AllowExecute', entry: 1 });
    expect(acquire({ ...row, state: 'closed' }, request)).toEqual({ verdict: 'AllowExecute', entry: 2 });
  });

  test('GUA-3 ReturnRecordedResult: committed, or its effect is recorded', () => {
    expect(acquire({ ...row, state: 'committed', result: '1' }, request)).toEqual({
      verdict: 'ReturnRecordedResult',
      result: '1',
    });
    for (const state of ['open', 'unknown', 'closed'] as const) {
      expect(acquire({ ...row, state }, { ...request, storedResult: '2', bodyMayRun: true })).toEqual({
        verdict: 'ReturnRecordedResult',
        result: '2',
      });
    }
  });

  test('GUA-3 WaitOtherWorker: in flight under a live attempt', () => {
    expect(acquire(row, { ...request, bodyMayRun: true })).toEqual({
      verdict: 'WaitOtherWorker',
      owner: 'worker-z/1',
    });
  });

  test('GUA-3 Rejected: a stale attempt, before anything else', () => {
    const stale = { ...request, currentAttemptId: 'worker-b/1' };
    expect(acquire(undefined, stale)).toEqual({ verdict: 'Rejected', code: 'STALE_ATTEMPT' });
    expect(acquire({ ...row, state: 'committed', result: '1' }, stale)).toEqual({
      verdict: 'Rejected',
      code: 'STALE_ATTEMPT',
    });
  });

  test('GUA-4 in flight under a dead attempt, or thrown: barrier', () => {
    expect(acquire(row, request)).toEqual({ verdict: 'Barrier', entry: 1 });
    expect(acquire({ ...row, state: 'unknown' }, { ...request, bodyMayRun: true })).toEqual({
      verdict: 'Barrier',
      entry: 1,
    });
  });

  test('other arguments, another tool or another kind of step is never a fresh row', () => {
    const rejected = { verdict: 'Rejected', code: 'NONDETERMINISM' };
    expect(acquire(row, { ...request, effectKey: 'other' })).toEqual(rejected);
    expect(acquire(row, { ...request, tool: 'stripe.refund' })).toEqual(rejected);
    const { steps } = given(...running, event('step.recorded'));
    expect(acquire(steps.get({ step: 'quote', occurrence: 1 }), request)).toEqual(rejected);
  });
});

describe('two-step commit', () => {
  test('GUA-4 intent, then result: one commit per entry', () => {
    given(...running)
      .when(command('begin-effect'))
      .thenEvents({
        type: 'effect.intended',
        step: 'charge',
        occurrence: 1,
        entry: 1,
        tool: 'stripe.charge',
        effectKey: 'key-of-charge',
      })
      .when(command('record-effect'))
      .thenEvents({ type: 'effect.recorded', entry: 1, result: '"ch_1"' })
      .when(command('record-effect', { result: '"ch_2"' }))
      .thenRejected('EFFECT_RECORDED', { step: 'charge#1' })
      .when(command('begin-effect'))
      .thenRejected('EFFECT_RECORDED', { step: 'charge#1' });
  });

  test('GUA-5 after the intent the body is never entered again by itself', () => {
    const retry = command('begin-effect', by('worker-b/1'));
    given(orphaned).when(retry).thenRejected('EFFECT_BARRIER', { step: 'charge#1', entry: 1 });
    given(orphaned)
      .when({ ...retry, bodyMayRun: true })
      .thenRejected('EFFECT_IN_FLIGHT', { step: 'charge#1', owner: 'worker-a/1' });
    given(orphaned)
      .when({ ...retry, tool: 'other' })
      .thenRejected('NONDETERMINISM', { step: 'charge#1' });
  });

  test('GUA-5 the barrier comes down as soon as the body has ended, even if its worker lives on', () => {
    const retried = given(PASTS.running, event('attempt.failed'), claimedBy('worker-b'));
    const verdict = { kind: 'notHappened' } as const;
    retried
      .when(command('reconcile-effect', { ...by('worker-b/1'), verdict, bodyMayRun: true }))
      .thenRejected('EFFECT_UNSETTLED');
    retried
      .when(command('reconcile-effect', { ...by('worker-b/1'), verdict, bodyMayRun: false }))
      .thenEvents({ type: 'effect.reconciled' });
  });

  test('GUA-5 a result that was stored before the crash is caught up by whoever comes next', () => {
    given(orphaned)
      .when(command('begin-effect', { ...by('worker-b/1'), storedResult: '"ch_1"' }))
      .thenRejected('EFFECT_RECORDED')
      .when(command('record-effect', by('worker-b/1')))
      .thenEvents({ type: 'effect.recorded', entry: 1, result: '"ch_1"' });
  });

  test('GUA-4 a failure that proves that nothing happened closes the entry, and a new one may run', () => {
    given(...intended)
      .when(command('close-effect'))
      .thenEvents({ type: 'effect.closed', entry: 1, failure: aFailure })
      .when(command('begin-effect'))
      .thenEvents({ type: 'effect.intended', entry: 2 })
      .when(command('record-effect', { entry: 1 }))
      .thenRejected('EFFECT_ENTRY_CLOSED', { step: 'charge#1', entry: 1 })
      .when(command('record-effect', { entry: 2 }))
      .thenEvents({ type: 'effect.recorded', entry: 2 });
  });

  test('GUA-4 only whoever ran the body can say that it provably did nothing', () => {
    given(orphaned)
      .when(command('close-effect', by('worker-b/1')))
      .thenRejected('EFFECT_BARRIER');
    given(orphaned)
      .when(command('doubt-effect', by('worker-b/1')))
      .thenRejected('EFFECT_BARRIER');
  });

  test('GUA-4 any other throw is an unknown outcome, and stays one', () => {
    given(...intended)
      .when(command('doubt-effect'))
      .thenEvents({ type: 'effect.unknown', entry: 1, failure: aFailure })
      .when(command('close-effect'))
      .thenRejected('EFFECT_BARRIER')
      .when(command('begin-effect', { bodyMayRun: true }))
      .thenRejected('EFFECT_BARRIER');
  });

  test('an entry that does not exist cannot be settled', () => {
    given(...running)
      .when(command('record-effect'))
      .thenRejected('NONDETERMINISM', { step: 'charge#1', recorded: null, requested: 'effect' });
    given(...running, event('step.recorded'))
      .when(command('close-effect', { step: 'quote' }))
      .thenRejected('NONDETERMINISM', { step: 'quote#1', recorded: 'run', requested: 'effect' });
    given(...running)
      .when(command('doubt-effect'))
      .thenRejected('NONDETERMINISM');
    given(...intended, event('effect.closed'))
      .when(command('close-effect'))
      .thenRejected('EFFECT_ENTRY_CLOSED');
    given(PASTS.interrupted).when(command('record-effect')).thenRejected('STALE_ATTEMPT');
  });
});

describe('reconcile', () => {
  const ask = command('reconcile-effect', { ...by('worker-b/1'), settleMs: 60_000, now: T0 + 60_000 });

  test('GUA-4 happened: the result is injected', () => {
    given(orphaned)
      .when({ ...ask, verdict: { kind: 'happened', result: '"ch_9"' } })
      .thenEvents({ type: 'effect.reconciled', verdict: 'happened', result: '"ch_9"' })
      .thenJob({ recoveryCount: 0 })
      .when(command('begin-effect', by('worker-b/1')))
      .thenRejected('EFFECT_RECORDED');
  });

  test('GUA-4 notHappened: a new entry may run', () => {
    given(orphaned)
      .when(ask)
      .thenEvents({ type: 'effect.reconciled', verdict: 'notHappened', result: null })
      .thenJob({ recoveryCount: 1 })
      .when(command('begin-effect', by('worker-b/1')))
      .thenEvents({ type: 'effect.intended', entry: 2 });
  });

  test('GUA-4 cannotTell: the barrier stays down', () => {
    given(orphaned)
      .when({ ...ask, verdict: { kind: 'cannotTell' } })
      .thenEvents({ type: 'effect.reconciled', verdict: 'cannotTell', result: null })
      .when(command('begin-effect', by('worker-b/1')))
      .thenRejected('EFFECT_BARRIER');
  });

  test('GUA-4 a result that turns up after notHappened is used, not repeated', () => {
    given(orphaned)
      .when(ask)
      .when(command('begin-effect', { ...by('worker-b/1'), storedResult: '"late"' }))
      .thenRejected('EFFECT_RECORDED')
      .when(command('record-effect', { ...by('worker-b/1'), result: '"late"' }))
      .thenEvents({ type: 'effect.recorded', entry: 1, result: '"late"' });
  });

  test('a stored result beats every verdict', () => {
    given(orphaned)
      .when({ ...ask, now: T0, storedResult: '"ch_1"' })
      .thenEvents({ type: 'effect.recorded', entry: 1, result: '"ch_1"' });
  });

  test('it is not asked while the body may still run, nor before the intent has settled', () => {
    const settledAt = T0 + 60_000;
    given(orphaned)
      .when({ ...ask, now: settledAt - 1 })
      .thenRejected('EFFECT_UNSETTLED', { step: 'charge#1', settledAt });
    given(orphaned)
      .when({ ...ask, bodyMayRun: true })
      .thenRejected('EFFECT_UNSETTLED');
    given(...intended, event('effect.unknown'))
      .when({ ...ask, ...by('worker-a/1'), bodyMayRun: true })
      .thenEvents({ type: 'effect.reconciled' });
  });

  test('an entry that is settled is not reconciled again', () => {
    given(orphaned, event('effect.recorded')).when(ask).thenRejected('EFFECT_RECORDED');
  });
});
