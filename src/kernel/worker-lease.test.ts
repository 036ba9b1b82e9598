import { describe, expect, test } from 'vitest';
import { T0 } from '../testkit/index.js';
import {
  DEFAULT_LEASE_MS,
  endLease,
  expireLease,
  isLeaseOver,
  LEASE_RENEWAL_SHARE,
  renewLease,
} from './index.js';

describe('worker leases', () => {
  const lease = { leaseUntil: T0 + 30_000, dead: false };

  test('a lease lasts 30 s and is renewed at a third of it', () => {
    expect(DEFAULT_LEASE_MS).toBe(30_000);
    expect(LEASE_RENEWAL_SHARE).toBeCloseTo(1 / 3);
  });

  test('it is over from its last millisecond on, and when nobody knows it', () => {
    expect(isLeaseOver(lease, T0 + 29_999)).toBe(false);
    expect(isLeaseOver(lease, T0 + 30_000)).toBe(true);
    expect(isLeaseOver({ leaseUntil: null }, T0)).toBe(true);
  });

  test('a renewal prolongs it and never shortens it', () => {
    expect(renewLease(lease, { now: T0 + 10_000, leaseMs: 30_000 })).toEqual({
      ok: true,
      lease: { leaseUntil: T0 + 40_000, dead: false },
    });
    expect(renewLease(lease, { now: T0, leaseMs: 1 })).toEqual({ ok: true, lease });
  });

  test('one that ran out unnoticed may go on; one that was declared dead never does', () => {
    expect(renewLease(lease, { now: T0 + 90_000, leaseMs: 30_000 })).toMatchObject({ ok: true });
    const dead = expireLease(lease, T0 + 30_000);
    expect(dead).toEqual({ leaseUntil: T0 + 30_000, dead: true });
    expect(dead && renewLease(dead, { now: T0, leaseMs: 30_000 })).toMatchObject({
      ok: false,
      code: 'STALE_ATTEMPT',
    });
  });

  test('a live lease is not declared dead, and a dead one not twice', () => {
    expect(expireLease(lease, T0 + 29_999)).toBeNull();
    expect(expireLease({ ...lease, dead: true }, T0 + 30_000)).toBeNull();
  });

  test('one that stops ends it, unless it holds jobs or is dead already', () => {
    expect(endLease(lease, { holdsJobs: false })).toEqual({ ...lease, dead: true });
    expect(endLease(lease, { holdsJobs: true })).toBeNull();
    expect(endLease({ ...lease, dead: true }, { holdsJobs: false })).toBeNull();
  });
});
