import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aFailure, aJobSpec, aWait, command, given, PASTS, T0 } from '../testkit/index.js';
import {
  COMMAND_TYPES,
  decide,
  NO_STEPS,
  STATUSES,
  type Command,
  type CommandType,
  type Job,
  type JobSpec,
} from './index.js';

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

/** Garbage that some fields take for good: to them it is plain text. */
const TAKES: Readonly<Record<string, readonly unknown[]>> = {
  attemptId: TEXT,
  tool: TEXT,
  effectKey: TEXT,
  key: TEXT,
  step: ['!x'],
  payload: [null],
  storedResult: [null],
  reason: [null, ...TEXT],
  leaseUntil: [null],
  received: [true],
  bodyMayRun: [true],
  early: [true],
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
      expect(decide(type === 'create' ? null : running, good as never, NO_STEPS)).not.toMatchObject({
        code: 'INVALID_COMMAND',
      });
      for (const field of Object.keys(good)) {
        for (const value of GARBAGE) {
          if (takes(type, field).includes(value)) continue;
          const bad = { ...good, [field]: value } as unknown as Command;
          const answer = decide(type === 'create' ? null : running, bad, NO_STEPS);
          expect(answer, `${field} = ${inspect(value)}`).toMatchObject({
            ok: false,
            code: 'INVALID_COMMAND',
          });
          if (!answer.ok) expect(answer.details['field']).toMatch(new RegExp(`^${field}`));
        }
        const { [field]: _, ...without } = good;
        expect(decide(running, without as unknown as Command, NO_STEPS)).toMatchObject({
          ok: false,
          code: 'INVALID_COMMAND',
        });
      }
    });

    test(`${type}: an unknown field`, () => {
      const sneaky = JSON.parse(
        JSON.stringify(command(type)).replace(/^\{/, '{"__proto__":{"x":1},'),
      ) as Command;
      expect(decide(running, sneaky, NO_STEPS)).toEqual({
        ok: false,
        code: 'INVALID_COMMAND',
        details: { field: '__proto__' },
      });
    });
  }

  test('what is not a command at all', () => {
    for (const value of [...GARBAGE, { type: 'toString' }, { type: 'explode' }]) {
      expect(decide(running, value as never, NO_STEPS)).toMatchObject({ ok: false, code: 'INVALID_COMMAND' });
      expect(decide(null, value as never, NO_STEPS)).toMatchObject({ ok: false, code: 'INVALID_COMMAND' });
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
        const answer = decide(job, bad as never, NO_STEPS);
        expect(typeof answer.ok).toBe('boolean');
        expect(JSON.stringify(job)).toBe(before);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the path of the fault is named', () => {
  const fault = (overrides: object) => {
    const answer = decide(null, command('create', { spec: { ...aJobSpec(), ...overrides } }), NO_STEPS);
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
    for (const key of ['a#1', 'a b', 'x'.repeat(129)]) {
      waits(aWait({ kind: 'signal', key })).thenRejected('INVALID_COMMAND', { field: 'waits[0].key' });
    }
  });

  test('what looks like an object but would not be written as one', () => {
    const inheriting: JobSpec = Object.create(aJobSpec());
    const descended: JobSpec = Object.assign(Object.create({ inherited: true }), aJobSpec());
    for (const spec of [inheriting, descended]) {
      given().when(command('create', { spec })).thenRejected('INVALID_COMMAND', { field: 'spec' });
    }
  });

  test('text that a store could not hold', () => {
    for (const key of ['\u0000', 'line\nbreak', 'half a \ud800 pair']) {
      given()
        .when(command('create', { spec: aJobSpec({ idempotencyKey: key }) }))
        .thenRejected('INVALID_COMMAND');
    }
    given()
      .when(command('create', { input: '"\u0000"' }))
      .thenRejected('INVALID_COMMAND', { field: 'input' });
  });

  test('names in any script are fine, halves of characters are not', () => {
    const step = (name: string) => given(PASTS.running).when(command('record-step', { step: name }));
    for (const fine of ['Übergabe', '步骤', 'ok 👍'])
      step(fine).thenEvents({ type: 'step.recorded', step: fine });
    for (const bad of ['a#b', '👍'[0] as string, '👍\n', '👍\u007f', '']) {
      step(bad).thenRejected('INVALID_COMMAND', { field: 'step' });
    }
  });

  test('whoever may not cause anything', () => {
    const by = (actor: string) => given(PASTS.running).when(command('cancel', { actor }));
    for (const fine of ['client', 'scheduler', 'recovery', 'worker:w', 'operator:key 1']) {
      by(fine).thenEvents({ type: 'job.cancelled', actor: fine });
    }
    for (const bad of ['Client', 'worker', 'worker:', 'operator:', 'operator', `worker:${'w'.repeat(220)}`]) {
      by(bad).thenRejected('INVALID_COMMAND', { field: 'actor' });
    }
    for (const bad of [
      'worker:a\nb',
      'worker:a\n',
      'operator:\u007f',
      'worker:\ud83d',
      'my client',
      'clients',
    ]) {
      by(bad).thenRejected('INVALID_COMMAND', { field: 'actor' });
    }
  });

  test('a field that cannot even be read', () => {
    const broken = Object.defineProperty({ ...command('cancel') }, 'reason', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    given(PASTS.running).when(broken).thenRejected('INVALID_COMMAND', { field: 'reason' });
  });

  test('a command that changes while it is read is decided as it was read', () => {
    let reads = 0;
    const shifty = Object.defineProperty({ ...command('cancel') }, 'reason', {
      enumerable: true,
      get: () => (reads++ === 0 ? 'fine' : 7),
    });
    given(PASTS.running).when(shifty).thenEvents({ type: 'job.cancelled', reason: 'fine' });
  });

  test('a failure is limited in size', () => {
    const failure = (message: string) => command('fail-attempt', { failure: { ...aFailure, message } });
    given(PASTS.running)
      .when(failure('x'.repeat(64_001)))
      .thenRejected('INVALID_COMMAND', { field: 'failure.message' });
    given(PASTS.running).when(failure('')).thenEvents({ type: 'attempt.failed' });
  });
});
