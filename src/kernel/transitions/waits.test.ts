import { describe, test } from 'vitest';
import {
  aWait,
  claimedBy,
  command,
  created,
  event,
  given,
  PASTS,
  T0,
  waitingFor,
} from '../../testkit/index.js';
import { nondeterminismWait, type Wait } from '../index.js';

const sleep: Wait = aWait({ kind: 'timer', key: 'sleep#1', step: 'sleep', expiresAt: T0 + 1_000 });
const child: Wait = aWait({ kind: 'child', key: 'ship#1', step: 'ship' });

describe('begin-wait', () => {
  test('GUA-9 a wait releases the lease, and only its end makes the job claimable', () => {
    given(PASTS.running)
      .when(command('begin-wait', { now: T0 + 50, waits: [aWait(), sleep] }))
      .thenEvents({ type: 'wait.begun', waits: [aWait(), sleep] })
      .thenJob({
        status: 'waiting',
        worker: null,
        claimedAt: null,
        leasedMs: 50,
        fenced: true,
        waits: [aWait(), sleep],
      })
      .when(command('claim', { now: T0 + 1e9, attemptId: 'worker-b/1' }))
      .thenRejected('INVALID_TRANSITION', { from: 'waiting', to: 'running' });
  });

  test('GUA-8 a handler that reuses a key within one job is refused', () => {
    const twice = [aWait(), aWait({ step: 'second' })];
    given(PASTS.running)
      .when(command('begin-wait', { waits: twice }))
      .thenRejected('WAIT_KEY_REUSED', { key: 'approval', step: 'second#1' });
    const oneStep = [aWait(), aWait({ key: 'other' })];
    given(PASTS.running)
      .when(command('begin-wait', { waits: oneStep }))
      .thenRejected('WAIT_KEY_REUSED');
    given(PASTS.unblocked, claimedBy('worker-a', 2))
      .when(command('begin-wait', { attemptId: 'worker-a/2', waits: [aWait({ step: 'again' })] }))
      .thenRejected('WAIT_KEY_REUSED', { key: 'approval', step: 'approval#1' });
  });

  test('GUA-8 nor one that was used before a checkpoint, of which only names are left', () => {
    const past = [
      created(),
      claimedBy('worker-a'),
      event('checkpoint.saved', { occurrences: { approval: 1, sleep: 1 } }),
    ];
    const again = aWait({ occurrence: 2 });
    given(...past)
      .when(command('begin-wait', { waits: [again] }))
      .thenRejected('WAIT_KEY_REUSED', { key: 'approval', step: 'approval' });
    given(...past)
      .when(command('consume-wait', { wait: again }))
      .thenRejected('WAIT_KEY_REUSED');
    const others = [
      aWait({ key: 'constructor', step: 'constructor' }),
      { ...sleep, key: 'sleep#2', occurrence: 2 },
    ];
    given(...past)
      .when(command('begin-wait', { waits: others }))
      .thenEvents({ type: 'wait.begun', waits: others });
  });

  test('GUA-8 one that began before its key was refused goes on', () => {
    const again = aWait({ occurrence: 2 });
    given(
      created(),
      claimedBy('worker-a'),
      event('checkpoint.saved', { occurrences: { approval: 1 } }),
      waitingFor(again, sleep),
      event('wait.completed', { wait: sleep, outcome: 'elapsed', payload: null }),
      claimedBy('worker-a', 2),
    )
      .when(command('begin-wait', { attemptId: 'worker-a/2', waits: [again] }))
      .thenEvents({ type: 'wait.begun', waits: [] });
  });

  test('a step that is something else cannot become a wait', () => {
    given(PASTS.running)
      .when(command('begin-wait', { waits: [aWait({ key: 'new', step: 'charge' })] }))
      .thenRejected('NONDETERMINISM', { step: 'charge#1', recorded: 'effect', requested: 'wait' });
    given(PASTS.unblocked, claimedBy('worker-a', 2))
      .when(command('begin-wait', { attemptId: 'worker-a/2', waits: [aWait({ key: 'new' })] }))
      .thenRejected('NONDETERMINISM', { step: 'approval#1', recorded: 'wait', requested: 'wait' });
  });

  test('a wait that is asked for again stays as it began, and only new ones are recorded', () => {
    const again = { ...sleep, expiresAt: T0 + 999_000 };
    given(
      created(),
      claimedBy('worker-a'),
      waitingFor(aWait(), sleep),
      event('wait.completed'),
      claimedBy('worker-a', 2),
    )
      .when(command('begin-wait', { attemptId: 'worker-a/2', waits: [again, child] }))
      .thenEvents({ type: 'wait.begun', waits: [child] })
      .thenJob({ waits: [sleep, child] });
  });

  test('a wait that nobody could end is refused', () => {
    const wait = (w: Wait) => command('begin-wait', { waits: [w] });
    const declared = given(created({ signals: ['approval'] }), claimedBy('worker-a'));
    declared
      .when(wait(aWait({ key: 'refund', step: 'refund' })))
      .thenRejected('INVALID_SIGNAL_KEY', { key: 'refund' });
    declared
      .when(command('consume-wait', { wait: aWait({ key: 'refund', step: 'refund' }) }))
      .thenRejected('INVALID_SIGNAL_KEY');
    declared.when(wait(aWait())).thenEvents({ type: 'wait.begun' });
    declared.when(wait(sleep)).thenEvents({ type: 'wait.begun' });
    declared.when(wait(nondeterminismWait({ rev: 7 }))).thenEvents({ type: 'wait.begun' });
  });

  test('a job whose handler has changed parks anew each time, and an operator sends it on', () => {
    given(created(), claimedBy('worker-a'), waitingFor(nondeterminismWait({ rev: 3 })))
      .when(command('complete-wait', { key: 'nondeterminism#3', payload: null }))
      .when(command('claim', { attemptId: 'worker-b/1' }))
      .when(command('begin-wait', { attemptId: 'worker-b/1', waits: [nondeterminismWait({ rev: 6 })] }))
      .thenEvents({ type: 'wait.begun', waits: [nondeterminismWait({ rev: 6 })] });
  });

  test('many parallel waits cost each about the same', () => {
    const waits = Array.from({ length: 10_000 }, (_, i) =>
      aWait({ key: `c#${i}`, kind: 'child', step: 'c', occurrence: i + 1 }),
    );
    given(PASTS.running).when(command('begin-wait', { waits })).thenJob({ waits });
    given(PASTS.running)
      .when(command('begin-wait', { waits: [...waits, child] }))
      .thenRejected('INVALID_COMMAND', { field: 'waits' });
  });
});

describe('completing waits', () => {
  test('GUA-9 wait_completed makes the job claimable again', () => {
    given(PASTS.waiting)
      .when(command('complete-wait', { payload: '{"ok":true}' }))
      .thenEvents({ type: 'wait.completed', outcome: 'received', payload: '{"ok":true}' })
      .thenJob({ status: 'unblocked', recoveryCount: 0 })
      .when(command('claim', { attemptId: 'worker-b/1' }))
      .thenEvents({ type: 'attempt.started' });
  });

  test('a wait completes once', () => {
    given(created(), claimedBy('worker-a'), waitingFor(aWait(), child))
      .when(command('complete-wait', { key: 'ship#1' }))
      .when(command('complete-wait', { key: 'approval' }))
      .thenRejected('INVALID_TRANSITION');
    given(PASTS.waiting)
      .when(command('complete-wait', { key: 'other' }))
      .thenRejected('WAIT_NOT_OPEN', { key: 'other' });
  });

  test('a timer cannot be completed from outside', () => {
    given(created(), claimedBy('worker-a'), waitingFor(sleep))
      .when(command('complete-wait', { key: 'sleep#1' }))
      .thenRejected('WAIT_NOT_OPEN');
  });

  test('DEC-12 wait expiry completes the wait with outcome timeout, a timer elapses', () => {
    const past = [
      created(),
      claimedBy('worker-a'),
      waitingFor(aWait({ expiresAt: T0 + 1_000 }), sleep, child),
    ] as const;
    given(...past)
      .when(command('expire-waits', { now: T0 + 999 }))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000 });
    given(...past)
      .when(command('expire-waits', { now: T0 + 1_000 }))
      .thenEvents(
        { type: 'wait.completed', outcome: 'timeout' },
        { type: 'wait.completed', outcome: 'elapsed' },
      )
      .thenJob({ status: 'unblocked', waits: [child] });
    given(created(), claimedBy('worker-a'), waitingFor(child))
      .when(command('expire-waits', { now: T0 + 1e9 }))
      .thenRejected('NOT_DUE', { dueAt: null });
  });

  test('what lies in the inbox already is consumed without leaving running', () => {
    given(PASTS.running)
      .when(command('consume-wait'))
      .thenEvents({ type: 'wait.completed', outcome: 'received' })
      .thenJob({ status: 'running', fenced: false })
      .when(command('consume-wait'))
      .thenRejected('WAIT_KEY_REUSED');
  });

  test('a consumed wait that began earlier is held to its first expiry', () => {
    const past = [
      created(),
      claimedBy('worker-a'),
      waitingFor(aWait(), sleep),
      event('wait.completed'),
      claimedBy('worker-a', 2),
    ] as const;
    const elapse = (now: number) =>
      command('consume-wait', {
        now,
        attemptId: 'worker-a/2',
        wait: { ...sleep, expiresAt: T0 + 1 },
        outcome: 'elapsed',
        payload: null,
      });
    given(...past)
      .when(elapse(T0 + 999))
      .thenRejected('NOT_DUE', { dueAt: T0 + 1_000 });
    given(...past)
      .when(elapse(T0 + 1_000))
      .thenEvents({ type: 'wait.completed', wait: sleep, outcome: 'elapsed' });
  });

  test('the outcome fits the kind of wait', () => {
    given(PASTS.running)
      .when(command('consume-wait', { outcome: 'elapsed' }))
      .thenRejected('INVALID_COMMAND');
    given(PASTS.running)
      .when(command('consume-wait', { wait: sleep, outcome: 'received' }))
      .thenRejected('INVALID_COMMAND');
    given(PASTS.running)
      .when(command('consume-wait', { outcome: 'timeout' }))
      .thenRejected('NOT_DUE', { dueAt: null });
  });
});
