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

/** The calls that faults are aimed at: those that change something, heartbeats, and those that only look. */
export type Aim = 'write' | 'beat' | 'read';

/**
 * Strikes at the nth call of its aim, counted over all processes, and whoever makes it. So faults fall where things
 * happen, and not into the long times between polls.
 */
export type Fault = {
  readonly kind: FaultKind;
  /** Absent: 'write'. */
  readonly at?: Exclude<Aim, 'write'>;
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

/** What may befall a call that matters only to whoever makes it. */
const OWN_KINDS = [
  'crash before',
  'crash after',
  'pause before',
  'pause after',
  'error before',
  'error after',
  'slow request',
  'slow reply',
] as const satisfies readonly FaultKind[];

/** What faults aimed elsewhere than at writes must have struck in any long run, and how far they reach. */
export const AIMED: Readonly<
  Record<Exclude<Aim, 'write'>, { readonly kinds: readonly FaultKind[]; readonly furthest: number }>
> = {
  beat: { kinds: [...OWN_KINDS, 'twice'], furthest: 25 },
  read: { kinds: OWN_KINDS, furthest: 60 },
};
const MOST_AIMED = 3;

/** A fault's name among what was met. */
export function hitOf({ kind, at }: Pick<Fault, 'kind' | 'at'>): string {
  return at === undefined ? kind : `${kind} at a ${at === 'beat' ? 'heartbeat' : 'read'}`;
}

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

/** Those that strike heartbeats and reads. They are counted by themselves, so the others strike where they always did. */
export function drawAimedFaults(random: Random): Fault[] {
  return Array.from({ length: random.int(MOST_AIMED + 1) }, (): Fault => {
    const at = random.int(2) === 0 ? 'beat' : 'read';
    const { kinds, furthest } = AIMED[at];
    return {
      kind: kinds[random.int(kinds.length)] as FaultKind,
      at,
      nth: 1 + random.int(furthest),
      ms: LENGTHS_MS[random.int(LENGTHS_MS.length)] as number,
      same: random.int(2) === 0,
    };
  }).toSorted((a, b) => a.nth - b.nth);
}
