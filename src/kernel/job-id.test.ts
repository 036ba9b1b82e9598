import { describe, expect, test } from 'vitest';
import { prng, T0 } from '../testkit/index.js';
import { bucketOf, bucketOfKey, BUCKETS, JOB_ID, newJobId } from './index.js';

describe('job ids', () => {
  const random = prng(1);
  const draw = (below: number) => random.int(below);

  test('RST-5 an id is a 26-character ULID that carries its bucket', () => {
    for (const bucket of [0, 1, 31, 32, 700, 1023]) {
      const id = newJobId({ now: T0, bucket, draw });
      expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      expect(id).toMatch(JOB_ID);
      expect(bucketOf(id)).toBe(bucket);
    }
  });

  test('RST-5 ids sort by time', () => {
    const ids = [0, 1, 1_000, 86_400_000].map((later) =>
      newJobId({ now: T0 + later, bucket: 1023 - (later % 1024), draw }),
    );
    expect(ids.toSorted()).toEqual(ids);
    expect(newJobId({ now: 0, bucket: 0, draw }).slice(0, 10)).toBe('0000000000');
    expect(newJobId({ now: 2 ** 48 - 1, bucket: 0, draw }).slice(0, 10)).toBe('7ZZZZZZZZZ');
  });

  test('RST-5 a caller may bring an id of 8 to 128 plain characters', () => {
    for (const id of ['job_0001', 'A.b:c-d_9', 'x'.repeat(128)]) expect(JOB_ID.test(id), id).toBe(true);
    for (const id of ['short_7', '_leading', 'white space', 'x'.repeat(129), 'slash/inside', 'ünïcode_']) {
      expect(JOB_ID.test(id), id).toBe(false);
    }
  });

  test('what only looks like a ULID carries no bucket', () => {
    const id = '01M7K4381NS95G0JTKX4FGNSF6';
    expect(bucketOf(id)).toBe(bucketOf(`${id.slice(0, 12)}00000000000000`));
    const others = [
      `8${id.slice(1)}`,
      id.slice(1),
      `${id}0`,
      `${id.slice(0, 25)}I`,
      `${id.slice(0, 25)}é`,
      id.toLowerCase(),
    ];
    for (const other of others) expect(bucketOf(other), other).not.toBe(bucketOf(id));
  });

  test('an id of the caller’s own making gets a bucket by its hash', () => {
    const buckets = new Set(Array.from({ length: 20_000 }, (_, i) => bucketOf(`order-${i}`)));
    expect(buckets.size).toBe(BUCKETS);
    expect(bucketOf('order-1')).toBe(bucketOf('order-1'));
  });

  test('equal keys fall into one bucket, and a null scope is no empty text', () => {
    const at = (scope: string | null, key = 'k') => bucketOfKey({ tenantId: 'acme', scope, key });
    expect(at(null)).toBe(at(null));
    expect(new Set([at(null), at(''), at('a'), at(null, 'k2')]).size).toBeGreaterThan(1);
  });
});
