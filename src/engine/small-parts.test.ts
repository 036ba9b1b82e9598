import { describe, expect, test } from 'vitest';
import { readCommand } from '../kernel/index.js';
import { fakeClock, T0 } from '../testkit/index.js';
import { ERRORS, PawlError } from '../errors.js';
import { Alarms } from './alarms.js';
import { Bell } from './bell.js';
import { toMs } from './duration.js';
import { failureOf, FatalError, NoEffectError } from './failure-of.js';
import { StoreTime } from './store-time.js';

describe('alarms', () => {
  test('ring in order of their time, on one timer of the clock', () => {
    const clock = fakeClock(T0);
    const alarms = new Alarms(clock);
    const rung: number[] = [];
    for (const ms of [50, 10, 40, 20, 30, 10]) alarms.set(ms, () => rung.push(ms));
    expect(clock.pending).toBeLessThanOrEqual(2);
    clock.advance(100);
    expect(rung).toEqual([10, 10, 20, 30, 40, 50]);
    expect(clock.pending).toBe(0);
  });

  test('a cancelled one does not ring, and many leave nothing behind', () => {
    const clock = fakeClock(T0);
    const alarms = new Alarms(clock);
    const rung: string[] = [];
    const cancels = Array.from({ length: 1_000 }, (_, n) => alarms.set(n, () => rung.push(`${n}`)));
    alarms.set(500, () => rung.push('kept'));
    for (const cancel of cancels) cancel();
    for (const cancel of cancels) cancel();
    clock.advance(2_000);
    expect(rung).toEqual(['kept']);
    expect(clock.pending).toBe(0);
  });

  test('one that is further away than a timer can be rings at its time, and no timer is asked for more', () => {
    const clock = fakeClock(T0);
    const delays: number[] = [];
    const alarms = new Alarms({
      ...clock,
      after: (ms, action) => (delays.push(ms), clock.after(ms, action)),
    });
    const rung: number[] = [];
    alarms.set(60 * 86_400_000, () => rung.push(clock.elapsed()));
    clock.advance(90 * 86_400_000);
    expect(rung).toEqual([60 * 86_400_000]);
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  });

  test('one that is set while others ring, rings too', () => {
    const clock = fakeClock(T0);
    const alarms = new Alarms(clock);
    const rung: string[] = [];
    alarms.set(10, () => {
      rung.push('a');
      alarms.set(5, () => rung.push('b'));
    });
    clock.advance(20);
    expect(rung).toEqual(['a', 'b']);
  });

  test('GUA-10 one that is set for no time throws there, and keeps no other from ringing', () => {
    const clock = fakeClock(T0);
    const alarms = new Alarms(clock);
    const rung: string[] = [];
    alarms.set(10, () => rung.push('before'));
    for (const none of [Number.NaN, undefined as unknown as number]) {
      expect(() => alarms.set(none, () => rung.push('never'))).toThrow('an alarm was set for no time');
    }
    alarms.set(Number.POSITIVE_INFINITY, () => rung.push('never'));
    alarms.set(Number.NEGATIVE_INFINITY, () => rung.push('at once'));
    alarms.set(20, () => rung.push('after'));
    clock.advance(30);
    expect(rung).toEqual(['at once', 'before', 'after']);
    expect(alarms.pending).toBe(1);
  });

  test('GUA-10 what one of them throws keeps no other from ringing', () => {
    const clock = fakeClock(T0);
    const alarms = new Alarms(clock);
    const rung: string[] = [];
    alarms.set(10, () => {
      throw new Error('a bug');
    });
    for (const ms of [10, 20]) alarms.set(ms, () => rung.push(`${ms}`));
    expect(() => clock.advance(30)).toThrow('a bug');
    clock.advance(30);
    expect(rung).toEqual(['10', '20']);
  });

  test('those that are stopped tell whoever asked for that, and a cancelled one nobody', () => {
    const clock = fakeClock(T0);
    const alarms = new Alarms(clock);
    const told: string[] = [];
    const cancel = alarms.set(
      10,
      () => told.push('rang'),
      () => told.push('stopped'),
    );
    alarms.set(
      10,
      () => told.push('rang'),
      () => told.push('cancelled'),
    )();
    alarms.set(10, () => told.push('rang'));
    expect([alarms.pending, alarms.isStopped]).toEqual([2, false]);
    alarms.stop();
    cancel();
    clock.advance(20);
    expect(told).toEqual(['stopped']);
    expect([alarms.pending, alarms.isStopped]).toEqual([0, true]);
  });
});

describe('a bell', () => {
  test('wakes a sleeper, and keeps a ring for the next', async () => {
    const clock = fakeClock(T0);
    const bell = new Bell(new Alarms(clock));
    bell.ring();
    await bell.sleep(1_000);
    const sleeping = bell.sleep(1_000);
    bell.ring();
    await sleeping;
    const again = bell.sleep(1_000);
    clock.advance(1_000);
    await again;
  });

  test('rings at its times, each once, and forgets those that are far away', async () => {
    const clock = fakeClock(T0);
    const bell = new Bell(new Alarms(clock));
    for (let n = 0; n < 100; n++) bell.ringAt(T0 + 10, T0);
    bell.ringAt(T0 + 3_600_000, T0);
    bell.ringAt(Number.NaN, T0);
    expect(clock.pending).toBe(1);
    const sleeping = bell.sleep(5_000);
    clock.advance(10);
    await sleeping;
  });
});

describe('the store’s time', () => {
  test('goes on from each reply, is never ahead of the store, and never goes back', () => {
    const clock = fakeClock(T0);
    const time = new StoreTime(clock);
    time.hear(T0 + 3_600_000);
    expect(time.now()).toBe(T0 + 3_600_000);
    clock.advance(250);
    expect(time.now()).toBe(T0 + 3_600_250);
    time.hear(T0 + 3_600_100);
    expect(time.now()).toBe(T0 + 3_600_250);
    clock.advance(1_000);
    expect(time.now()).toBe(T0 + 3_601_100);
  });
});

test('durations', () => {
  const known = {
    '250ms': 250,
    '1.5s': 1_500,
    '5m': 300_000,
    '1h': 3_600_000,
    '7d': 604_800_000,
    '2w': 1_209_600_000,
  };
  for (const [text, ms] of Object.entries(known)) expect(toMs(text as '1s', 'x')).toBe(ms);
  expect(toMs(12.4, 'x')).toBe(12);
  for (const bad of ['', '1', '-1s', '1 s', 'h', Number.NaN, -1, Number.POSITIVE_INFINITY, null]) {
    expect(() => toMs(bad as '1s', 'the delay')).toThrow(/^the delay is /);
  }
});

const NO_CODE = { code: 'TASK_EXECUTION_FAILED', retryable: true, class: 'transient' };
const UNWRITABLE = 'something that cannot be written down';

describe('DEC-14 what was thrown becomes plain data', () => {
  test.each<[unknown, object]>([
    [
      new Error('boom'),
      { code: 'TASK_EXECUTION_FAILED', message: 'boom', retryable: true, class: 'transient' },
    ],
    [new TypeError(''), { message: 'TypeError' }],
    ['text', { message: 'text' }],
    [undefined, { message: 'undefined' }],
    [{ a: 1n }, { message: 'something that cannot be written down' }],
    [
      Object.assign(new Error('x'), { code: 'E_MINE', retryable: false }),
      { code: 'E_MINE', retryable: false, class: 'permanent' },
    ],
    [Object.assign(new Error('x'), { code: 'not a code!' }), { code: 'TASK_EXECUTION_FAILED' }],
    [
      new FatalError('x', { cause: new Error('inner') }),
      { message: 'inner', retryable: false, class: 'permanent' },
    ],
    [new Error('x'.repeat(10_000)), { message: `${'x'.repeat(4_000)}…` }],
    [new Error(`${'x'.repeat(3_999)}😀`), { message: `${'x'.repeat(3_999)}\ufffd…` }],
    [new Error('half \ud83d a pair'), { message: 'half \ufffd a pair' }],
    ['x'.repeat(100_000), { message: `${'x'.repeat(4_000)}…` }],
    [Object.assign(new Error('x'), { message: ['a'] }), { message: '["a"]' }],
    [Object.assign(new Error('x'), { message: 7n }), { message: 'something that cannot be written down' }],
    [Object.assign(new Error('x'), { message: null, name: 'Odd' }), { message: 'Odd' }],
    [Object.assign(new Error(''), { name: 7 }), { message: 'Error' }],
    [Object.assign(new Error('x'), { code: ['E'], retryable: 'no' }), NO_CODE],
    [Object.assign(new Error('x'), { code: 'E'.repeat(200) }), NO_CODE],
    [['a', 1], { ...NO_CODE, message: '["a",1]' }],
    [
      { code: 'E_MINE', retryable: false },
      { code: 'E_MINE', retryable: false, class: 'permanent' },
    ],
    [Symbol('x'), { ...NO_CODE, message: 'Symbol(x)' }],
    [Object.create(null), { ...NO_CODE, message: '{}' }],
    [Object.assign(Object.create(null), { toJSON: () => undefined }), { ...NO_CODE, message: UNWRITABLE }],
    [null, { ...NO_CODE, message: 'null' }],
    [trap('code', 'retryable', 'toJSON'), { ...NO_CODE, message: UNWRITABLE }],
    [Object.defineProperties(new Error('x'), traps('message', 'code', 'retryable')), { message: 'Error' }],
    [new Proxy({}, { getPrototypeOf: deny, get: deny }), { ...NO_CODE, message: UNWRITABLE }],
    [new FatalError('x', { cause: Symbol('y') }), { message: 'Symbol(y)', retryable: false }],
    [Object.defineProperties(new FatalError('x'), traps('cause')), { message: 'x', retryable: false }],
    [new NoEffectError('x', { cause: new FatalError('y') }), { message: 'y', retryable: false }],
    [selfCaused(new FatalError('round')), { message: 'round', retryable: false, class: 'permanent' }],
    [
      new PawlError('RESULT_TIMEOUT', { detail: 'late' }),
      { code: 'RESULT_TIMEOUT', class: ERRORS.RESULT_TIMEOUT.class },
    ],
    [
      Object.assign(new PawlError('RESULT_TIMEOUT', { detail: 'late' }), { code: 'toString', retryable: 1 }),
      { code: 'toString', retryable: true, class: 'transient' },
    ],
  ])('%#, which can be recorded', (thrown, expected) => {
    const failure = failureOf(thrown);
    expect(failure).toMatchObject(expected);
    const command = { type: 'fail-attempt', now: T0, actor: 'client', attemptId: 'a', failure } as const;
    expect(readCommand(command)).toEqual(command);
  });
});

function deny(): never {
  throw new Error('hands off');
}

function traps(...names: string[]): PropertyDescriptorMap {
  return Object.fromEntries(names.map((name) => [name, { get: deny, enumerable: true }]));
}

function trap(...names: string[]): object {
  return Object.defineProperties({}, traps(...names));
}

function selfCaused(error: Error): Error {
  error.cause = error;
  return error;
}

test('GUA-2 a clock that is ahead of the store’s counts only until the first reply', () => {
  const clock = fakeClock(T0);
  const time = new StoreTime({ ...clock, now: () => clock.now() + 3_600_000 });
  expect(time.now()).toBe(T0 + 3_600_000);
  time.hear(T0);
  expect(time.now()).toBe(T0);
  clock.advance(5);
  time.hear(T0 + 3);
  expect(time.now()).toBe(T0 + 3);
});
