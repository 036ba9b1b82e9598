import { expect, test } from 'vitest';
import { childrenOf, effectsOf, lastFailure, readEvent, waitsOf, type LogEvent } from './job-log.js';

let count = 0;
const event = (type: string, data: LogEvent['data'] = {}): LogEvent => ({
  event_id: `e${++count}`,
  rev: count,
  type,
  occurred_at: `2026-02-25T12:00:0${count % 10}Z`,
  actor: 'engine',
  status: 'running',
  data,
});
const failure = { code: 'TASK_EXECUTION_FAILED', message: 'no', retryable: true };
const step = { step: 'charge', occurrence: 1 };
const intended = (entry: number) =>
  event('effect.intended', { ...step, entry, tool: 'payments.charge', effect_key: 'k' });

test('an event is read from the text of a stream, and anything else is refused', () => {
  const sent = event('job.created', { input: 1 });
  expect(readEvent(JSON.stringify(sent))).toEqual(sent);
  expect(() => readEvent('{"type":1}')).toThrow('no text at event.event_id');
});

test('the last failure counts, whether another attempt follows it or not', () => {
  expect(lastFailure([event('job.created')])).toBeNull();
  const log = [
    event('attempt.failed', { failure }),
    event('dlq.entered', { failure: { ...failure, message: 'never' } }),
  ];
  expect(lastFailure(log)).toMatchObject({ code: 'TASK_EXECUTION_FAILED', message: 'never' });
});

test('a wait is open until it is completed', () => {
  const wait = { key: 'approval', kind: 'signal', step: 'approval', reason: null, expires_at: null };
  const child = { ...wait, key: 'child#1', kind: 'child' };
  const log = [
    event('wait.begun', { waits: [wait] }),
    event('child.started', { wait: child, child: { child_id: 'job_2', task: 'ship' } }),
    event('wait.completed', { wait, outcome: 'received' }),
  ];
  expect(waitsOf(log).map(({ key, outcome }) => [key, outcome])).toEqual([
    ['approval', 'received'],
    ['child#1', null],
  ]);
  expect(childrenOf(log)).toEqual([{ childId: 'job_2', task: 'ship', step: 'approval' }]);
});

test.each([
  ['nothing more', [], ['entered']],
  ['its result', [event('effect.recorded', { ...step, entry: 1 })], ['recorded']],
  ['that it threw', [event('effect.unknown', { ...step, entry: 1, failure })], ['unknown']],
  [
    'that it did not happen, and a second entry',
    [event('effect.reconciled', { ...step, entry: 1, verdict: 'notHappened' }), intended(2)],
    ['closed', 'entered'],
  ],
  [
    'that nobody can tell',
    [event('effect.reconciled', { ...step, entry: 1, verdict: 'cannotTell' })],
    ['unknown'],
  ],
])('of an effect the log says %s', (_what, more, states) => {
  expect(effectsOf([intended(1), ...more]).map(({ state }) => state)).toEqual(states);
});

test('what is not as it should be is left out, not thrown at the reader', () => {
  expect(waitsOf([event('wait.begun', { waits: null })])).toEqual([]);
  expect(effectsOf([event('effect.recorded', {})])).toEqual([]);
  expect(lastFailure([event('attempt.failed', {})])).toMatchObject({ code: '', message: '' });
});
