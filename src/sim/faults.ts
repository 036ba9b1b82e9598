import type { Random } from '../ports/random.js';

export const FAULT_KINDS = [
  'crash before',
  'crash after',
  'pause before',
  'pause after',
  'error before',
  'error after',
  'twice',
  'slow request',
  'slow reply',
  'outage',
  'wake-ups lost',
  'wake-ups late',
  'clock step',
  'stop',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/**
 * Strikes at the nth call that matters, counted over all processes, and whoever makes it. So faults fall where things
 * happen, and not into the long times between polls.
 */
export type Fault = {
  readonly kind: FaultKind;
  readonly nth: number;
  /** How long it lasts: the pause, the outage, until the restart. */
  readonly ms: number;
  /** After a crash: whether the process comes back under the same name. For a clock: whether it goes back. */
  readonly same: boolean;
};

const MOST_FAULTS = 10;
/** Most schedules make fewer calls that matter than this; a fault beyond the last does nothing. */
const FURTHEST = 160;

/** Short ones stay below a lease, long ones are several: both sides of every time limit. */
const LENGTHS_MS = [5, 50, 400, 1_500, 4_000, 6_000, 12_000, 35_000] as const;

export function drawFaults(random: Random): Fault[] {
  const count = random.int(8) === 0 ? 0 : 1 + random.int(MOST_FAULTS);
  const reach = [20, 60, FURTHEST][random.int(3)] as number;
  return Array.from({ length: count }, () => ({
    kind: FAULT_KINDS[random.int(FAULT_KINDS.length)] as FaultKind,
    nth: 1 + random.int(reach),
    ms: LENGTHS_MS[random.int(LENGTHS_MS.length)] as number,
    same: random.int(2) === 0,
  })).toSorted((a, b) => a.nth - b.nth);
}
