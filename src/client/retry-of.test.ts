import { expect, test } from 'vitest';
import { DEFAULT_RETRY } from '../kernel/index.js';
import { task } from './task.js';

test.each<[string, object, string]>([
  ['retry.maxRetries', { maxRetries: -3 }, 'takes a whole number from 0 to 1,000,000, and is -3'],
  ['retry.maxRetries', { maxRetries: '3' }, 'a whole number'],
  ['retry.baseMs', { baseMs: 0.5 }, 'takes milliseconds'],
  ['retry.maxBackoffMs', { maxBackoffMs: -1 }, 'takes milliseconds'],
  ['retry.jitterMs', { jitterMs: Number.NaN }, 'takes milliseconds'],
  ['retry.retries', { retries: 3 }, 'is nothing that there is'],
])('a task is refused for its %s when it is made', (option, retry, problem) => {
  const make = (): unknown => task({ name: 'small', retry }, () => 1);
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', details: { option } }) as Error);
  expect(make).toThrow(`${option} of task 'small'`);
  expect(make).toThrow(problem);
});

test('what a task does not say about retries is as by default', () => {
  const { definition } = task({ name: 'small', retry: { maxRetries: 0 } }, () => 1);
  expect(definition.retry).toEqual({ ...DEFAULT_RETRY, maxRetries: 0 });
});
