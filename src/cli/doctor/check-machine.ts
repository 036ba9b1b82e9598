import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { toMs, type Duration } from '../../engine/duration.js';
import { fail, ok, timespan, warn, type Check } from './check.js';

const OLDEST_NODE = [20, 19] as const;
/** The store's clock decides, so that a skew harms nothing but the reading of logs. */
const SKEW_MS = 2_000;
/** Shorter leases run out in a pause of the garbage collector, or while a disk is slow: jobs are then run twice in part. */
const SHORTEST_LEASE_MS = 5_000;

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [least, leastMinor] = OLDEST_NODE;
  const isSupported = major > least || (major === least && minor >= leastMinor);
  return isSupported
    ? ok('node', `Node ${version}`)
    : fail('node', `Node ${version} is too old: use ${least}.${leastMinor} or later`);
}

/** Half of the way to the store and back is taken off: that long its answer was under way. */
export async function checkClock(store: Store, clock: Clock): Promise<Check> {
  const before = clock.elapsed();
  const { now } = await store.pausedQueues();
  const tookMs = clock.elapsed() - before;
  const skewMs = Math.round(clock.now() - tookMs / 2 - now);
  const took = `it answered in ${Math.max(1, Math.round(tookMs))} ms`;
  if (Math.abs(skewMs) <= SKEW_MS)
    return ok('clock', `this machine and the store agree on the time; ${took}`);
  const direction = skewMs > 0 ? 'ahead of' : 'behind';
  return warn(
    'clock',
    `this machine is ${timespan(Math.abs(skewMs))} ${direction} the store, whose time counts: synchronise them`,
  );
}

/** Where the store's time is that of this machine, nothing else would show that it was set back. */
export function checkTimeGoesOn({ now, newestAt }: { now: number; newestAt: number | null }): Check[] {
  const behindMs = newestAt === null ? 0 : newestAt - now;
  if (behindMs <= SKEW_MS) return [];
  const message = `this machine is ${timespan(behindMs)} behind the newest time in the store: until it has caught up, jobs, retries and timers of before stand still, and so do the leases of workers that died. Set the clock right`;
  return [fail('clock', message, ['G1'])];
}

/** Enough that what is left of a page, or of a log that is written over, does not hold it. */
const PROBE = JSON.stringify('x'.repeat(65_536));

/** Writes a record and deletes it: a full disk is told of only by what takes room. Nothing is left behind. */
export async function checkWrite(store: Store): Promise<Check> {
  const ref = { kind: 'reply', tenantId: '', id: 'doctor' } as const;
  await store.putRecord({ ...ref, version: 1, body: PROBE }, 0);
  await store.deleteRecord(ref);
  return ok('permissions', 'the store can be written');
}

export function checkLease(lease: Duration | undefined): Check[] {
  if (lease === undefined) return [];
  const leaseMs = toMs(lease, 'lease');
  if (leaseMs >= SHORTEST_LEASE_MS) return [ok('lease', `workers have a lease of ${timespan(leaseMs)}`)];
  const message = `a lease of ${leaseMs} ms runs out in a short pause of a worker that is well: use ${SHORTEST_LEASE_MS} ms or more`;
  return [warn('lease', message, ['G1 under F10'])];
}
