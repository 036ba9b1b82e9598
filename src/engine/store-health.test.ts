import { expect, test } from 'vitest';
import { ERRORS, PawlError, type ErrorCode } from '../errors.js';
import { StoreHealth } from './store-health.js';

function health() {
  const state = { now: 1_000 };
  const logged: string[] = [];
  const say = (message: string): void => void logged.push(message);
  const log = { debug: say, info: say, warn: say, error: say };
  const of = new StoreHealth({ log, now: () => state.now });
  const failure = (code: ErrorCode) => new PawlError(code, { detail: 'it is so' });
  return { of, logged, failure, state };
}

test('GUA-11 down with the first failure, up with the first answer', () => {
  const { of, logged, failure, state } = health();
  expect(of.current).toEqual({ answers: true, since: 1_000 });
  state.now = 2_000;
  of.failed('load', failure('STORE_UNAVAILABLE'));
  state.now = 3_000;
  of.failed('commit', failure('STORE_UNAVAILABLE'));
  expect(of.current).toEqual({ answers: false, since: 2_000 });
  state.now = 5_000;
  of.answered('load');
  expect(of.current).toEqual({ answers: true, since: 5_000 });
  const outage = of.firstOutage;
  expect(outage).toEqual({ from: 2_000, until: 5_000, code: 'STORE_UNAVAILABLE' });
  if (outage) of.forget(outage);
  expect(of.firstOutage).toBe(null);
  expect(logged).toEqual(['the store cannot be used', 'the store can be used again']);
});

test('GUA-11 a full disk can still be read: only a write shows that it has room again', () => {
  const { of, failure } = health();
  of.failed('commit', failure('STORE_FULL'));
  of.answered('load');
  of.answered('records');
  expect(of.current.answers).toBe(false);
  of.answered('beat');
  expect(of.current.answers).toBe(true);
});

test('GUA-11 an outage that only writes meet ends with a write, unless nobody has tried for a minute', () => {
  const { of, logged, failure, state } = health();
  for (let n = 0; n < 20; n++) {
    state.now += 500;
    of.failed(n % 2 === 0 ? 'commit' : 'claim', failure('STORE_UNAVAILABLE'));
    of.answered('load');
    of.answered('claim');
  }
  expect(of.current).toEqual({ answers: false, since: 1_500 });
  of.answered('commit');
  expect(of.firstOutage).toMatchObject({ from: 1_500, until: 11_000 });
  expect(logged).toHaveLength(2);
  of.failed('commit', failure('STORE_UNAVAILABLE'));
  state.now += 60_000;
  of.answered('load');
  expect(of.current.answers).toBe(true);
});

test('GUA-11 whatever makes a store unusable is tried again, until it is well', () => {
  const outages = Object.keys(ERRORS).filter((code) => {
    const { of, failure } = health();
    of.failed('commit', failure(code as ErrorCode));
    return !of.current.answers;
  }) as ErrorCode[];
  expect(outages).toContain('STORE_READ_ONLY');
  for (const code of outages) expect({ code, ...ERRORS[code] }).toMatchObject({ code, retryable: true });
});

test('GUA-11 what is wrong with one request says nothing about the store', () => {
  const { of, failure } = health();
  of.failed('commit', failure('STORE_BUSY'));
  of.failed('commit', failure('INVALID_OPTION'));
  of.failed('load', new Error('a bug'));
  // The application's own transaction was broken.
  of.failed('commitWithin', failure('STORE_UNAVAILABLE'));
  of.failed('begin', failure('STORE_UNAVAILABLE'));
  expect(of.current.answers).toBe(true);
});

test('a process that never writes outages down keeps no more than ten', () => {
  const { of, failure, state } = health();
  for (let n = 0; n < 50; n++) {
    state.now += 1;
    of.failed('load', failure('STORE_UNAVAILABLE'));
    of.answered('load');
  }
  let kept = 0;
  for (let outage = of.firstOutage; outage; outage = of.firstOutage) {
    of.forget(outage);
    kept += 1;
  }
  expect(kept).toBe(10);
});

test('GUA-11 an outage begins when the call was sent that met it, unless something was answered since', () => {
  const { of, failure, state } = health();
  state.now = 200_000;
  of.answered('load', 40_000);
  of.failed('commit', failure('STORE_UNAVAILABLE'), 150_000);
  expect(of.current).toEqual({ answers: false, since: 50_000 });
  of.answered('commit', 200_000);
  state.now = 230_000;
  of.answered('load', 225_000);
  of.failed('commit', failure('STORE_UNAVAILABLE'), 29_000);
  expect(of.current).toEqual({ answers: false, since: 225_000 });
});

test('GUA-11 a heartbeat that only waits is no outage while others write', () => {
  const { of, state } = health();
  state.now = 20_000;
  of.answered('commit', 16_000);
  of.silent('beat', 5_000);
  expect(of.current.answers).toBe(true);
  state.now = 22_000;
  of.silent('beat', 5_000);
  expect(of.current).toEqual({ answers: false, since: 17_000 });
});
