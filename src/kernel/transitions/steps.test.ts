import { describe, expect, test } from 'vitest';
import {
  aFailure,
  aFatalFailure,
  aChild,
  aChildWait,
  aWait,
  claimedBy,
  command,
  created,
  event,
  given,
  PASTS,
  T0,
} from '../../testkit/index.js';
import { decodeEvents, DEFAULT_RETRY, encodeEvents, retryDelayMs } from '../index.js';

const running = [created(), claimedBy('worker-a')] as const;

describe('record-step', () => {
  test('GUA-6 a step has one recorded result, for ever', () => {
    const recorded = given(...running).when(command('record-step', { startedAt: T0 - 5 }));
    recorded.thenEvents({
      type: 'step.recorded',
      step: 'quote',
      occurrence: 1,
      startedAt: T0 - 5,
      output: '{"cents":100}',
    });
    recorded
      .when(command('record-step', { output: '{"cents":999}' }))
      .thenRejected('STEP_ALREADY_RECORDED', { step: 'quote#1' });
    recorded.when(command('fail-step')).thenRejected('STEP_ALREADY_RECORDED');
    recorded.when(command('record-step', { occurrence: 2 })).thenEvents({ type: 'step.recorded' });
  });

  test('a step that is recorded as something else is refused by name', () => {
    const details = { step: 'charge#1', recorded: 'effect', requested: 'run' };
    given(PASTS.running)
      .when(command('record-step', { step: 'charge' }))
      .thenRejected('NONDETERMINISM', details);
    given(PASTS.running)
      .when(command('fail-step', { step: 'charge' }))
      .thenRejected('NONDETERMINISM', details);
  });

  test('a recorded step resets the recovery count and changes nothing else but the time', () => {
    const crashed = given(...running, event('attempt.interrupted'), claimedBy('worker-a', 2));
    const { job } = crashed.when(command('record-step', { attemptId: 'worker-a/2', now: T0 + 77 }));
    expect(crashed.job?.recoveryCount).toBe(1);
    expect(job).toEqual({ ...crashed.job, recoveryCount: 0, updatedAt: T0 + 77 });
  });
});

describe('fail-step', () => {
  const retry = { ...DEFAULT_RETRY, maxRetries: 1 };

  test('tries are counted in the log, with the same backoff as attempts', () => {
    const delayMs = retryDelayMs(retry, { seed: 'job_00000001:quote#1', retryCount: 1 });
    given(...running)
      .when(command('fail-step', { retry }))
      .thenEvents({ type: 'step.failed', tries: 1, nextTryAt: T0 + delayMs })
      .when(command('fail-step', { retry }))
      .thenEvents({ type: 'step.failed', tries: 2, nextTryAt: null })
      .thenJob({ status: 'running' });
  });

  test('an error that is not retryable is final for the step', () => {
    given(...running)
      .when(command('fail-step', { retry, failure: aFatalFailure }))
      .thenEvents({ type: 'step.failed', tries: 1, nextTryAt: null });
  });

  test('the next attempt of the job counts afresh; a crash does not', () => {
    const failedOnce = [...running, event('step.failed', { tries: 1, failure: aFailure })] as const;
    given(...failedOnce, event('attempt.failed'), claimedBy('worker-b'))
      .when(command('fail-step', { retry, attemptId: 'worker-b/1' }))
      .thenEvents({ type: 'step.failed', tries: 1 });
    given(...failedOnce, event('attempt.interrupted'), claimedBy('worker-b'))
      .when(command('fail-step', { retry, attemptId: 'worker-b/1' }))
      .thenEvents({ type: 'step.failed', tries: 2 });
  });

  test('a step that failed can still be recorded, and its failure is then forgotten', () => {
    const { steps } = given(...running, event('step.failed'), event('step.recorded'));
    expect(steps.get({ step: 'quote', occurrence: 1 })).toMatchObject({
      output: '{"cents":100}',
      failure: null,
      nextTryAt: null,
    });
  });
});

describe('the step log', () => {
  test('GUA-12 the latest checkpoint is kept, with the numbers that steps had reached', () => {
    const loop = [
      ...running,
      ...[1, 2, 3].map((occurrence) => event('step.recorded', { occurrence })),
    ] as const;
    given(...loop)
      .when(command('save-checkpoint'))
      .thenEvents({ type: 'checkpoint.saved', state: '{"i":10}', occurrences: { quote: 3 } })
      .thenJob({ checkpointRev: 1 });
    const { steps } = given(
      ...loop,
      event('checkpoint.saved', { state: '1' }),
      event('checkpoint.saved', { state: '2' }),
    );
    expect(steps.checkpoint).toEqual({ state: '2', occurrences: { quote: 10 } });
    expect(steps.occurrences()).toEqual({ quote: 10 });
    expect(given(...running).steps.checkpoint).toBeNull();
  });

  test('GUA-12 steps are counted whatever they are called, and the log stays readable', () => {
    const names = ['constructor', 'toString', '__proto__'];
    const recorded = names.map((step) => event('step.recorded', { step }));
    const counted = Object.fromEntries(names.map((step) => [step, 1]));
    const { decision } = given(...running, ...recorded).when(command('save-checkpoint'));
    const events = decision.ok ? decision.events : [];
    expect(events).toMatchObject([{ type: 'checkpoint.saved' }]);
    const { steps } = given(...running, ...events);
    expect(Object.entries(steps.occurrences())).toEqual(Object.entries(counted));
    expect(decodeEvents(encodeEvents(events))).toEqual({ ok: true, events });
    expect([...names, 'valueOf'].map((step) => steps.isBeforeCheckpoint(step))).toEqual([
      ...names.map(() => true),
      false,
    ]);
    expect(given(...running, ...recorded).steps.isBeforeCheckpoint('constructor')).toBe(false);
  });

  test('GUA-12 no checkpoint while something is pending: it would be forgotten', () => {
    const unsettled = { step: 'charge#1' };
    given(PASTS.running).when(command('save-checkpoint')).thenRejected('CHECKPOINT_UNSETTLED', unsettled);
    given(PASTS.running, event('effect.unknown'))
      .when(command('save-checkpoint'))
      .thenRejected('CHECKPOINT_UNSETTLED', unsettled);
    given(...running, event('child.started'))
      .when(command('save-checkpoint'))
      .thenRejected('CHECKPOINT_UNSETTLED', { step: 'ship#1' });
    given(PASTS.running, event('effect.closed'))
      .when(command('save-checkpoint'))
      .thenEvents({ type: 'checkpoint.saved' });
  });

  test('GUA-12 a checkpoint is no progress: a job that only saves and crashes is stopped all the same', () => {
    given(...running, event('attempt.interrupted'), claimedBy('worker-a', 2))
      .when(command('save-checkpoint', { attemptId: 'worker-a/2' }))
      .thenJob({ recoveryCount: 1 });
  });

  test('steps may come in any order, and with any number that a step may have', () => {
    const last = 1_000_000_000;
    const { steps } = given(
      ...running,
      ...[last, 2, 1, 2].map((occurrence) => event('step.recorded', { occurrence })),
      event('effect.intended', { occurrence: last }),
    );
    expect(steps.size).toBe(4);
    expect(steps.entries().map(([key]) => key)).toEqual([
      'quote#1',
      'quote#2',
      `quote#${last}`,
      `charge#${last}`,
    ]);
    expect(steps.get({ step: 'quote', occurrence: last })).toMatchObject({ kind: 'run' });
    expect(steps.get({ step: 'quote', occurrence: 3 })).toBeUndefined();
    expect(steps.findPending()).toBe(`charge#${last}`);
    expect(steps.occurrences()).toEqual({ quote: last, charge: last });
  });

  test('steps are found by name and occurrence, waits by correlation key too', () => {
    const { steps } = given(...running, event('step.recorded'), event('wait.begun'), event('wait.completed'));
    expect(steps.size).toBe(2);
    expect(steps.entries().map(([key]) => key)).toEqual(['quote#1', 'approval#1']);
    expect(steps.waitFor('approval')).toEqual({
      kind: 'wait',
      wait: aWait(),
      child: null,
      outcome: 'received',
      payload: 'true',
    });
    expect(steps.get({ step: 'quote', occurrence: 2 })).toBeUndefined();
    expect(steps.waitFor('other')).toBeUndefined();
  });

  test('an effect that was never intended cannot be recorded: the log is corrupt', () => {
    expect(() => given(...running, event('effect.recorded'))).toThrow(/no effect was intended at charge#1/);
  });
});

describe('start-child', () => {
  const again = command('start-child');

  test('a child is started once, and the wait for it begins', () => {
    const started = given(...running).when(command('start-child'));
    started
      .thenEvents({ type: 'child.started', wait: aChildWait(), child: aChild })
      .thenJob({ status: 'running', waits: [aChildWait()] });
    started.when(again).thenRejected('STEP_ALREADY_RECORDED', { step: 'ship#1' });
    started
      .when(command('begin-wait', { waits: [aChildWait()] }))
      .thenEvents({ type: 'wait.begun', waits: [] })
      .thenJob({ status: 'waiting', waits: [aChildWait()] })
      .when(command('complete-wait', { key: 'ship#1', payload: '{"ok":1}' }))
      .thenEvents({ type: 'wait.completed', payload: '{"ok":1}' });
  });

  test('another task or input at that step is a changed handler', () => {
    const started = given(...running, event('child.started'));
    for (const change of [{ task: 'mail' }, { inputHash: 'other' }]) {
      started
        .when(command('start-child', { child: { ...aChild, ...change } }))
        .thenRejected('NONDETERMINISM');
    }
    given(...running, event('step.recorded', { step: 'ship' }))
      .when(again)
      .thenRejected('NONDETERMINISM');
    given(...running, event('wait.completed', { wait: aWait({ key: 'x', step: 'ship' }) }))
      .when(again)
      .thenRejected('NONDETERMINISM');
  });

  test('only a wait for a child starts one, and its key is its own', () => {
    given(...running)
      .when(command('start-child', { wait: aWait() }))
      .thenRejected('INVALID_COMMAND', { field: 'wait.kind' });
    given(...running, event('child.started'))
      .when(command('start-child', { wait: aChildWait({ step: 'other' }) }))
      .thenRejected('WAIT_KEY_REUSED');
  });

  test('the end of a child keeps whose it was', () => {
    const { steps } = given(
      ...running,
      event('child.started'),
      event('wait.completed', { wait: aChildWait() }),
    );
    expect(steps.waitFor('ship#1')).toMatchObject({ child: aChild, outcome: 'received' });
  });
});
