import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aFailure, aJobSpec, aWait, command, given, PASTS, T0 } from '../testkit/index.js';
import { COMMAND_TYPES, decide, STATUSES, type Command, type CommandType, type Job } from './index.js';

const running = given(PASTS.running).job as Job;

const EMPTY = {};

/** Values that fit no field, or hardly any. */
const GARBAGE = [
  undefined,
  null,
  NaN,
  Infinity,
  -1,
  1.5,
  1e300,
  '',
  EMPTY,
  [],
  true,
  7n,
  Symbol('s'),
  () => 1,
  '\u0000',
  '!x',
  'a\nb',
];

const TEXT = ['!x'];
const JSON_TEXT = ['\u0000'];

/** Garbage that some fields take for good: to them it is plain text. */
const TAKES: Readonly<Record<string, readonly unknown[]>> = {
  attemptId: TEXT,
  tool: TEXT,
  effectKey: TEXT,
  key: TEXT,
  step: ['!x'],
  input: JSON_TEXT,
  result: JSON_TEXT,
  output: JSON_TEXT,
  state: JSON_TEXT,
  payload: [null, ...JSON_TEXT],
  storedResult: [null, ...JSON_TEXT],
  reason: [null, ...TEXT],
  leaseUntil: [null],
  occurrences: [EMPTY],
  received: [true],
  ownerAlive: [true],
};

function takes(type: CommandType, field: string): readonly unknown[] {
  // Any text is a key to look at; whether it is a good one has a code of its own.
  if (type === 'signal' && field === 'key') return ['', '\u0000', '!x', 'a\nb'];
  // What the command requires, others may leave out.
  if ((type === 'signal' && field === 'payload') || (type === 'force-fail' && field === 'reason')) {
    return (TAKES[field] ?? []).filter((value) => value !== null);
  }
  return TAKES[field] ?? [];
}

describe('bad input to any command is refused with a stable code', () => {
  for (const type of COMMAND_TYPES) {
    test(`${type}: each field, missing or of the wrong kind`, () => {
      const good = command(type) as unknown as Record<string, unknown>;
      expect(decide(type === 'create' ? null : running, good as never)).not.toMatchObject({
        code: 'INVALID_COMMAND',
      });
      for (const field of Object.keys(good)) {
        for (const value of GARBAGE) {
          if (takes(type, field).includes(value)) continue;
          const bad = { ...good, [field]: value } as unknown as Command;
          const answer = decide(type === 'create' ? null : running, bad);
          expect(answer, `${field} = ${inspect(value)}`).toMatchObject({
            ok: false,
            code: 'INVALID_COMMAND',
          });
          if (!answer.ok) expect(answer.details['field']).toMatch(new RegExp(`^${field}`));
        }
        const { [field]: _, ...without } = good;
        expect(decide(running, without as unknown as Command)).toMatchObject({
          ok: false,
          code: 'INVALID_COMMAND',
        });
      }
    });

    test(`${type}: an unknown field`, () => {
      const sneaky = JSON.parse(
        JSON.stringify(command(type)).replace(/^\{/, '{"__proto__":{"x":1},'),
      ) as Command;
      expect(decide(running, sneaky)).toEqual({
        ok: false,
        code: 'INVALID_COMMAND',
        details: { field: '__proto__' },
      });
    });
  }

  test('what is not a command at all', () => {
    for (const value of [...GARBAGE, { type: 'toString' }, { type: 'explode' }]) {
      expect(decide(running, value as never)).toMatchObject({ ok: false, code: 'INVALID_COMMAND' });
      expect(decide(null, value as never)).toMatchObject({ ok: false, code: 'INVALID_COMMAND' });
    }
  });

  test('whatever the command, decide answers and leaves the job alone', () => {
    const jobs = STATUSES.map((status) => given(PASTS[status]).job as Job);
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withNullPrototype: true,
      withObjectString: true,
    });
    const almost = fc
      .tuple(
        fc.constantFrom(...COMMAND_TYPES),
        fc.dictionary(
          fc.constantFrom(
            'now',
            'actor',
            'attemptId',
            'spec',
            'waits',
            'cause',
            'verdict',
            'failure',
            'key',
            'x',
          ),
          anything,
        ),
      )
      .map(([type, fields]) => ({ ...command(type), ...fields }));
    fc.assert(
      fc.property(fc.constantFrom(...jobs), fc.oneof(anything, almost), (job, bad) => {
        const before = JSON.stringify(job);
        const answer = decide(job, bad as never);
        expect(typeof answer.ok).toBe('boolean');
        expect(JSON.stringify(job)).toBe(before);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the path of the fault is named', () => {
  const fault = (overrides: object) => {
    const answer = decide(null, command('create', { spec: { ...aJobSpec(), ...overrides } }));
    return answer.ok ? null : answer.details['field'];
  };

  test.each([
    ['spec.jobId', { jobId: 'short' }],
    ['spec.jobId', { jobId: '../../etc/passwd' }],
    ['spec.retry.maxRetries', { retry: { maxRetries: -1, baseMs: 1, maxBackoffMs: 1, jitterMs: 1 } }],
    ['spec.retry.extra', { retry: { maxRetries: 1, baseMs: 1, maxBackoffMs: 1, jitterMs: 1, extra: 1 } }],
    ['spec.retry', { retry: [] }],
    ['spec.signals[1]', { signals: ['fine', 'not fine'] }],
    ['spec.signals', { signals: 'fine' }],
    ['spec.parent.occurrence', { parent: { jobId: 'parent_1', step: 's', occurrence: 0 } }],
    ['spec.timeoutMs', { timeoutMs: 0 }],
    ['spec.scheduledAt', { scheduledAt: 8.64e15 + 1 }],
    ['spec.colour', { colour: 'red' }],
  ])('%s', (path, overrides) => {
    expect(fault(overrides)).toBe(path);
  });

  test('waits are judged one by one', () => {
    const waits = (...bad: unknown[]) =>
      given(PASTS.running).when(command('begin-wait', { waits: bad as never }));
    waits().thenRejected('INVALID_COMMAND', { field: 'waits' });
    waits(aWait(), { ...aWait({ key: 'b' }), kind: 'nap' }).thenRejected('INVALID_COMMAND', {
      field: 'waits[1].kind',
    });
    waits(aWait({ kind: 'timer', key: 'a#1' })).thenRejected('INVALID_COMMAND', {
      field: 'waits[0].expiresAt',
    });
    waits(aWait({ kind: 'timer', key: 'plain', expiresAt: T0 })).thenRejected('INVALID_COMMAND', {
      field: 'waits[0].key',
    });
    waits(aWait({ kind: 'signal', key: 'a#1' })).thenRejected('INVALID_COMMAND', { field: 'waits[0].key' });
  });

  test('a failure is limited in size', () => {
    const failure = (message: string) => command('fail-attempt', { failure: { ...aFailure, message } });
    given(PASTS.running)
      .when(failure('x'.repeat(64_001)))
      .thenRejected('INVALID_COMMAND', { field: 'failure.message' });
    given(PASTS.running).when(failure('')).thenEvents({ type: 'attempt.failed' });
  });

  test('counters in a checkpoint are judged one by one', () => {
    given(PASTS.running)
      .when(command('save-checkpoint', { occurrences: { quote: 1, ship: -1 } }))
      .thenRejected('INVALID_COMMAND', { field: 'occurrences.ship' });
  });
});
