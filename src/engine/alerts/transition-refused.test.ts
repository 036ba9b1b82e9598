import { expect, test } from 'vitest';
import { Refusals } from './transition-refused.js';

const LIMIT = { inARow: 3, withinMs: 300_000 };

test('JOB-12 a row is reported when it is long enough, and again every 30 s while it goes on', () => {
  const refusals = new Refusals();
  const refused = (now: number) => refusals.refused('acme', now, LIMIT);
  expect([refused(0), refused(1), refused(2)]).toEqual([null, null, 3]);
  // Not reported yet: whoever wanted to could not.
  expect(refused(3)).toBe(4);
  refusals.reported('acme', 3);
  expect([refused(4), refused(30_002), refused(30_003)]).toEqual([null, null, 7]);
  refusals.accepted('acme');
  expect([refused(30_004), refused(30_005), refused(30_006)]).toEqual([null, null, 3]);
});

test('rows of tenants that were refused long ago are let go of', () => {
  const refusals = new Refusals();
  for (let n = 0; n < 20_000; n++) refusals.refused(`tenant_${n}`, n * 1_000, LIMIT);
  expect(refusals.size).toBeLessThanOrEqual(1_001);
  expect(new Refusals().size).toBe(0);
});
