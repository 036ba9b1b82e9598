import { describe, expect, test } from 'vitest';
import { claimedBy, command, created, event, given, PASTS, T0 } from './index.js';

describe('given().when() fails when it should', () => {
  const accepted = given(PASTS.running).when(command('complete'));
  const refused = given(PASTS.queued).when(command('complete'));

  test('on events that did not happen, happened otherwise, or were not expected', () => {
    expect(() => accepted.thenEvents()).toThrow(/strictly deep-equal/);
    expect(() => accepted.thenEvents({ type: 'job.failed' })).toThrow(/strictly deep-equal/);
    expect(() => accepted.thenEvents({ type: 'job.succeeded', at: T0 + 1 })).toThrow(/strictly deep-equal/);
    expect(() => accepted.thenEvents({ type: 'job.succeeded' }, { type: 'job.promoted' })).toThrow(
      /strictly deep-equal/,
    );
    expect(() => refused.thenEvents()).toThrow(/complete was refused: STALE_ATTEMPT/);
  });

  test('on a refusal that did not happen, or has another code or other details', () => {
    expect(() => accepted.thenRejected('STALE_ATTEMPT')).toThrow(/complete was accepted/);
    expect(() => refused.thenRejected('INVALID_TRANSITION')).toThrow(/strictly deep-equal/);
    expect(() => refused.thenRejected('STALE_ATTEMPT', { current: 'x' })).toThrow(/strictly deep-equal/);
  });

  test('on a job that is not as expected, or does not exist', () => {
    expect(() => accepted.thenJob({ status: 'failed' })).toThrow(/strictly deep-equal/);
    expect(() => given().when(command('cancel')).thenJob({})).toThrow('there is no job');
  });

  test('and passes otherwise', () => {
    accepted.thenEvents({ type: 'job.succeeded' }).thenJob({ status: 'succeeded' });
    refused.thenRejected('STALE_ATTEMPT', { current: null }).thenJob({ status: 'queued' });
  });
});

test('a job under test is frozen, so that a decision cannot change it unnoticed', () => {
  expect(Object.isFrozen(given(created(), claimedBy('worker-a'), event('step.recorded')).job)).toBe(true);
});
