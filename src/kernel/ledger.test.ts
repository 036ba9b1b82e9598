import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claimedBy, created, event, given } from '../testkit/index.js';
import { admitResult, canonicalJson, effectKeyText, type EffectStep, type Event } from './index.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('effect keys', () => {
  const key = (args: string, overrides: object = {}) =>
    sha256(
      effectKeyText({
        jobId: 'j',
        stepKey: 'charge#1',
        tool: 'stripe',
        args: canonicalJson(args),
        ...overrides,
      }),
    );

  test('GUA-3 the key depends on job, step, tool and canonical arguments, on nothing else', () => {
    expect(key('{"a":1,"b":[2,{"d":1,"c":null}]}')).toBe(key('{ "b": [2, {"c":null,"d":1}], "a": 1 }'));
    const others = [
      key('{"a":2}'),
      key('{"a":1}', { jobId: 'k' }),
      key('{"a":1}', { stepKey: 'charge#2' }),
      key('{"a":1}', { tool: 't' }),
    ];
    expect(new Set([key('{"a":1}'), ...others]).size).toBe(5);
  });

  test('canonical JSON means the same and has one spelling', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(canonicalJson(text))).toEqual(JSON.parse(text));
        expect(canonicalJson(canonicalJson(text))).toBe(canonicalJson(text));
      }),
    );
  });
});

describe('results that arrive', () => {
  const after = (...events: Event[]): EffectStep => {
    const { steps } = given(created(), claimedBy('worker-a'), event('effect.intended'), ...events);
    const step = steps.get({ step: 'charge', occurrence: 1 });
    if (step?.kind !== 'effect') throw new Error('no effect');
    return step;
  };

  test('GUA-4 the first result of an open entry counts, later ones repeat it', () => {
    expect(admitResult(after(), { entry: 1 })).toBe('first');
    expect(admitResult(after(event('effect.unknown')), { entry: 1 })).toBe('first');
    expect(admitResult(after(event('effect.recorded')), { entry: 1 })).toBe('repeated');
  });

  test('GUA-4 a result for an entry closed by notHappened is late, also once a new entry runs', () => {
    const closed = event('effect.reconciled', { verdict: 'notHappened' });
    expect(admitResult(after(closed), { entry: 1 })).toBe('late');
    expect(admitResult(after(closed, event('effect.intended', { entry: 2 })), { entry: 1 })).toBe('late');
    expect(admitResult(after(closed, event('effect.intended', { entry: 2 })), { entry: 2 })).toBe('first');
  });
});
