import { expect, test } from 'vitest';
import { DEFAULT_RETRY } from '../kernel/index.js';
import { task } from './task.js';

test.each<[string, object, string]>([
  ['retry.maxRetries', { maxRetries: -3 }, 'takes a whole number from 0 to 1,000,000, and is -3'],
  ['retry.maxRetries', { maxRetries: '3' }, 'a whole number'],
  ['retry.baseMs', { baseMs: 0.5 }, 'takes milliseconds'],
  ['retry.maxBackoffMs', { maxBackoffMs: -1 }, 'takes milliseconds'],
  ['retry.jitterMs', { jitterMs: Number.NaN }, 'takes milliseconds'],
])('a task is refused for its %s when it is made', (option, retry, problem) => {
  const make = (): unknown => task({ name: 'small', retry }, () => 1);
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', details: { option } }) as Error);
  expect(make).toThrow(`${option} of task 'small'`);
  expect(make).toThrow(problem);
});

test.each<[string, object, string]>([
  ['name', { name: undefined }, 'name of task() is missing'],
  ['name', { name: '' }, 'name of task \'\' is "", which is no text'],
  ['name', { name: 'n'.repeat(201) }, 'takes 1 to 200 characters'],
  ['input', { input: { parse: () => 1 } }, 'no schema'],
  ['version', { version: 5 }, 'takes 1 to 100 characters, none of them a control character, and is 5'],
  ['queue', { queue: '' }, 'takes 1 to 200 characters'],
  ['priority', { priority: 1.5 }, 'takes a whole number from -1,000,000'],
  ['timeout', { timeout: 'soon' }, 'no duration'],
  ['timeoutMs', { timeout: 0 }, 'takes milliseconds, as a whole number from 1 up, and is 0'],
  ['recovery', { recovery: 'restart' }, 'takes one of resume, abort, and is "restart"'],
  ['maxRecoveries', { maxRecoveries: -1 }, 'takes a whole number from 0'],
  ['signals', { signals: ['fine', 'not so fine'] }, 'takes a list of up to 1,000 keys'],
  ['concurrency.limt', { concurrency: { key: () => 'k', limt: 3 } }, "(did you mean 'limit'?)"],
  ['rateLimit.per', { rateLimit: { limit: 3 } }, "rateLimit.per of task 'small' is missing"],
  ['rateLimit.per', { rateLimit: { limit: 3, per: 0 } }, 'no time above 0'],
  ['retry.retries', { retry: { retries: 3 } }, "has no option 'retry.retries' (did you mean 'maxRetries'?)"],
  ['retries', { retries: 3 }, "task 'small' has no option 'retries': there are name, input, version"],
  ['handler', { name: 'small' }, "the handler of task 'small' is undefined, which is no function"],
])('a task is refused for its %s when it is made: %j', (option, options, problem) => {
  const handler = option === 'handler' ? undefined : () => 1;
  const make = (): unknown => task({ name: 'small', ...options }, handler as () => 1);
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', details: { option } }) as Error);
  expect(make).toThrow(problem);
});

test('what a task does not say about retries is as by default', () => {
  const { definition } = task({ name: 'small', retry: { maxRetries: 0 } }, () => 1);
  expect(definition.retry).toEqual({ ...DEFAULT_RETRY, maxRetries: 0 });
});
