import pg from 'pg';
import { expect, test } from 'vitest';
import { PawlError } from '../../errors.js';
import { isSilence, mayTryAgain, storeError } from './server-error.js';

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error(`${code} of a test`), { code }, more);

test.each([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EAI_AGAIN',
  'EAI_FAIL',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
])('GUA-11 %s is an outage, and what met it is sent again', (code) => {
  for (const error of [coded(code), Object.assign(new AggregateError([coded(code)]), { code })]) {
    expect(storeError(error)).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true, cause: error });
    expect(mayTryAgain(error)).toBe(true);
  }
});

test('GUA-11 a call of the system that failed for a reason that nobody thought of is an outage, too', () => {
  const error = coded('EMFILE', { syscall: 'connect' });
  expect(storeError(error)).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  expect(mayTryAgain(error)).toBe(true);
});

test('what our own code threw stays what it is, and is not tried again', () => {
  const ours = new PawlError('EVENT_UNREADABLE', { detail: 'a test' });
  for (const error of [ours, new TypeError('no'), coded('ERR_INVALID_ARG_TYPE')]) {
    expect(storeError(error)).toBe(error);
    expect(mayTryAgain(error)).toBe(false);
  }
});

test('what the server refuses for good is not tried again', () => {
  const refused = Object.assign(new pg.DatabaseError('no', 1, 'error'), { code: '42501' });
  expect(storeError(refused)).toMatchObject({ code: 'STORE_ACCESS_DENIED' });
  expect(mayTryAgain(refused)).toBe(false);
});

const said = (code: string) => Object.assign(new pg.DatabaseError('no', 1, 'error'), { code });

test.each(['22021', '22003', '22P05'])(
  'GUA-11 %s says something of what was asked, and nothing of the store: it is not tried again',
  (code) => {
    expect(storeError(said(code))).toMatchObject({ code: 'INVALID_OPTION', retryable: false });
    expect(mayTryAgain(said(code))).toBe(false);
  },
);

test('GUA-11 a pool whose connections are all in use is busy, which is neither an outage nor a silence', () => {
  const error = new Error('timeout exceeded when trying to connect');
  expect(storeError(error)).toMatchObject({ code: 'STORE_BUSY', retryable: true, cause: error });
  expect([isSilence(error), mayTryAgain(error)]).toEqual([false, true]);
  for (const silent of ['read timeout', 'Query read timeout', 'timeout expired'])
    expect([isSilence(new Error(silent)), mayTryAgain(new Error(silent))]).toEqual([true, true]);
});

test('what the server says to another copy of the driver is heard, too', () => {
  const theirs = Object.assign(new Error('no'), { severity: 'ERROR', code: '53100' });
  expect(storeError(theirs)).toMatchObject({ code: 'STORE_FULL', cause: theirs });
});
