import { expect, test } from 'vitest';
import { SkipAhead } from './skip-ahead.js';

const place = (jobId: string) => ({ urgency: 0, dueAt: 1, jobId });
const firsts = (jobId: string) => new Map([['s', place(jobId)]]);
const beginning = new SkipAhead().from('s', 0);

test('as long as claims are fast, each begins at the beginning', () => {
  const skip = new SkipAhead();
  skip.foundTenants('q', ['acme'], 1);
  skip.found(firsts('b'), { now: 1, tookMs: 3 });
  expect(skip.from('s', 2)).toBe(beginning);
  expect(skip.tenants('q', 2)).toBeUndefined();
});

test('after a slow one the next begin where the last found its first job, until it is time to look at all again', () => {
  const skip = new SkipAhead();
  skip.foundTenants('q', ['acme'], 1);
  skip.found(firsts('b'), { now: 1, tookMs: 50 });
  expect(skip.from('other', 2)).toBe(beginning);
  expect(skip.from('s', 2)).toEqual(place('b'));
  expect(skip.tenants('q', 2)).toEqual(['acme']);
  skip.found(firsts('c'), { now: 400, tookMs: 1 });
  expect(skip.from('s', 500)).toEqual(place('c'));
  expect(skip.from('s', 501)).toBe(beginning);
  expect(skip.tenants('q', 501)).toBeUndefined();
  skip.found(firsts('d'), { now: 502, tookMs: 1 });
  expect(skip.from('s', 503)).toBe(beginning);
});

test('what was found while claims were slow before is of no use when they are slow again', () => {
  const skip = new SkipAhead();
  expect(skip.isIdle).toBe(true);
  skip.found(firsts('b'), { now: 1, tookMs: 50 });
  expect(skip.isIdle).toBe(false);
  skip.foundTenants('long ago', ['acme'], 2);
  expect(skip.tenants('long ago', 3)).toEqual(['acme']);
  skip.foundTenants('now', ['acme', 'bolt'], 1_000);
  skip.found(firsts('c'), { now: 1_000, tookMs: 50 });
  expect(skip.tenants('long ago', 1_001)).toBeUndefined();
  expect(skip.tenants('now', 1_001)).toEqual(['acme', 'bolt']);
  skip.found(firsts('d'), { now: 2_000, tookMs: 1 });
  expect(skip.isIdle).toBe(true);
});
