import { reject, type Rejected } from './decision.js';
import type { Timestamp } from './payload.js';

/** Longer leaves a crashed worker's jobs idle; shorter takes jobs from workers that only paused for a moment. */
export const DEFAULT_LEASE_MS = 30_000;
/** A lease is renewed at a third of it. A shorter one runs out in the first pause of a process that is well, and nothing ever runs. */
export const LEAST_LEASE_MS = 100;

/**
 * How early a lease is renewed, as a share of its length. At one third a worker survives two lost renewals;
 * renewing more often only adds writes.
 */
export const LEASE_RENEWAL_SHARE = 1 / 3;

/** One lease per worker incarnation; all jobs that the incarnation holds live as long as it does. */
export type WorkerLease = { readonly leaseUntil: Timestamp; readonly dead: boolean };

/** A lease is over from its last millisecond on. Null: the incarnation is dead, or nobody knows it. */
export function isLeaseOver({ leaseUntil }: { leaseUntil: Timestamp | null }, now: Timestamp): boolean {
  return leaseUntil === null || now >= leaseUntil;
}

/**
 * Prolongs a lease. One that was declared dead stays so, however early the renewal was sent: its jobs may already
 * run elsewhere. One that merely ran out may go on, since nobody acted on it.
 */
export function renewLease(
  lease: WorkerLease,
  { now, leaseMs }: { now: Timestamp; leaseMs: number },
): { readonly ok: true; readonly lease: WorkerLease } | Rejected {
  if (lease.dead) return reject('STALE_ATTEMPT', { leaseUntil: lease.leaseUntil });
  return { ok: true, lease: { leaseUntil: Math.max(lease.leaseUntil, now + leaseMs), dead: false } };
}

/**
 * Ends the lease of a worker that stops: nobody need count on it any longer. Null for one that is dead already, and for one that
 * holds jobs: they are found by its lease, as those of a worker that vanished are.
 */
export function endLease(lease: WorkerLease, { holdsJobs }: { holdsJobs: boolean }): WorkerLease | null {
  if (lease.dead || holdsJobs) return null;
  return { leaseUntil: lease.leaseUntil, dead: true };
}

/** Declares an expired lease dead, for good. Null while it is alive. */
export function expireLease(lease: WorkerLease, now: Timestamp): WorkerLease | null {
  if (lease.dead || !isLeaseOver(lease, now)) return null;
  return { leaseUntil: lease.leaseUntil, dead: true };
}
