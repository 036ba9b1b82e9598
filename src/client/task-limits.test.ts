import { expect, test } from 'vitest';
import { concurrencyOf, rateOf } from './task-limits.js';

test('a key, a tenant’s limit, or both; jobs without a key count for their tenant only', () => {
  expect(concurrencyOf('t', undefined)).toBeNull();
  const key = (input: unknown) => input as string | null;
  const keyed = concurrencyOf('t', { key, limit: 2 });
  expect([keyed?.limit, keyed?.perTenant, keyed?.key('a'), keyed?.key(null), keyed?.key('')]).toEqual([
    2,
    null,
    'a',
    null,
    null,
  ]);
  const both = concurrencyOf('t', { key, limit: 2, perTenant: 5 });
  expect([both?.limit, both?.perTenant, both?.key('a'), both?.key(null)]).toEqual([2, 5, 'a', '']);
  const tenant = concurrencyOf('t', { perTenant: 5 });
  expect([tenant?.limit, tenant?.perTenant, tenant?.key('a')]).toEqual([null, 5, '']);
});

test.each<[string, object]>([
  ['concurrency', {}],
  ['concurrency', { key: () => 'k' }],
  ['concurrency', { limit: 3 }],
  ['concurrency.limit', { key: () => 'k', limit: 0 }],
  ['concurrency.limit', { key: () => 'k', limit: '2' }],
  ['concurrency.perTenant', { perTenant: 1.5 }],
  ['concurrency.perTenant', { key: () => 'k', limit: 1, perTenant: -1 }],
])('INVALID_OPTION names %s', (option, bad) => {
  let thrown: unknown;
  try {
    concurrencyOf('t', bad as { perTenant: number });
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'INVALID_OPTION', details: { option } });
});

test('a rate is for all tenants together, unless it is each one’s own', () => {
  expect(rateOf('t', { limit: 3, per: '1s' })).toEqual({ limit: 3, perMs: 1_000, perTenant: false });
  expect(rateOf('t', { limit: 3, per: '1s', perTenant: true })).toMatchObject({ perTenant: true });
});
