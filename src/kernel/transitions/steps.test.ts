import { describe, expect, test } from 'vitest';
import {
  aFailure,
  aFatalFailure,
  aWait,
  claimedBy,
  command,
  created,
  event,
  given,
  PASTS,
  T0,
} from '../../testkit/index.js';
import { DEFAULT_RETRY, retryDelayMs } from '../index.js';

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

  test('a recorded step touches nothing of the job but its recovery count', () => {
    given(...running, event('attempt.interrupted'), claimedBy('worker-a', 2))
      .when(command('record-step', { attemptId: 'worker-a/2' }))
      .thenJob({ status: 'running', recoveryCount: 0, attemptId: 'worker-a/2', retryCount: 0 });
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
  test('GUA-12 the latest checkpoint is kept with the numbers that steps had reached', () => {
    given(...running)
      .when(command('save-checkpoint'))
      .thenEvents({ type: 'checkpoint.saved', state: '{"i":10}', occurrences: { quote: 10 } });
    const { steps } = given(
      ...running,
      event('checkpoint.saved', { state: '1' }),
      event('checkpoint.saved', { state: '2' }),
    );
    expect(steps.checkpoint).toEqual({ state: '2', occurrences: { quote: 10 } });
    expect(given(...running).steps.checkpoint).toBeNull();
  });

  test('steps are found by name and occurrence, waits by correlation key too', () => {
    const { steps } = given(...running, event('step.recorded'), event('wait.begun'), event('wait.completed'));
    expect(steps.size).toBe(2);
    expect([...steps.entries()].map(([key]) => key)).toEqual(['quote#1', 'approval#1']);
    expect(steps.waitFor('approval')).toEqual({
      kind: 'wait',
      wait: aWait(),
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
