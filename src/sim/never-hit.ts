import { EVENT_TYPES } from '../kernel/index.js';
import { AIMED, FAULT_KINDS, hitOf } from './faults.js';
import type { OperationKind } from './plan.js';
import type { Instruction } from './workload/program.js';

/** Fewer seeds may miss something by chance alone. */
export const ENOUGH_SEEDS = 1_000;

const INSTRUCTIONS: Readonly<Record<Instruction['do'], true>> = {
  run: true,
  retry: true,
  effect: true,
  sleep: true,
  wait: true,
  call: true,
  race: true,
  values: true,
  parallel: true,
  throw: true,
};
const OPERATIONS: Readonly<Record<OperationKind, true>> = {
  start: true,
  signal: true,
  cancel: true,
  abandon: true,
  foreign: true,
  hold: true,
  settle: true,
  pause: true,
  requeue: true,
  discard: true,
  schedule: true,
};
const MORE = [
  'fault a wake-up lost',
  'feature checkpoint',
  'feature early signal',
  'feature signal to a waiting job',
  'feature restart',
  'feature restart under the same name',
  'feature a full concurrency key',
  'feature a rate used up',
  'feature purge',
  'feature a job goes on with another',
  'feature effect refused',
  'feature effect threw, and had happened',
  'feature effect threw, and had not happened',
  'feature effect hung, and had happened',
  'feature effect hung, and had not happened',
  'feature effect came too late',
  'feature effect took too long',
  'feature effect happened after its worker died',
  'feature reconcile cannot tell',
  'feature reconcile: happened',
  'feature reconcile: not happened',
  'feature operator: happened',
  'feature operator: notHappened',
  'feature operator: fail',
  'ending succeeded',
  'ending cancelled',
  'ending exhausted',
  'ending non_retryable',
  'ending deadline',
  'ending recovery_aborted',
  'ending abandoned',
  'command time-out',
  'command consume-wait',
  'command expire-waits',
  'command complete-wait',
];

/** What must be met in any long run, and was not (invariant 28). */
export function neverHit(hits: Readonly<Record<string, number>>): string[] {
  return [
    ...FAULT_KINDS.map((kind) => `fault ${kind}`),
    ...(['beat', 'read'] as const).flatMap((at) =>
      AIMED[at].kinds.map((kind) => `fault ${hitOf({ kind, at })}`),
    ),
    ...EVENT_TYPES.map((type) => `event ${type}`),
    ...Object.keys(INSTRUCTIONS).map((name) => `feature ${name}`),
    ...Object.keys(OPERATIONS).map((name) => `feature operation ${name}`),
    ...MORE,
  ].filter((key) => (hits[key] ?? 0) === 0);
}
