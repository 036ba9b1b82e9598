import type { Event } from './event.js';

/** Every way in which the kernel says no. Each stands in the error registry with its class and advice. */
export const REJECTION_CODES = [
  'INVALID_COMMAND',
  'JOB_NOT_FOUND',
  'JOB_EXISTS',
  'INVALID_TRANSITION',
  'STALE_ATTEMPT',
  'ATTEMPT_ID_REUSED',
  'NOT_DUE',
  'DEADLINE_PASSED',
  'LEASE_ALIVE',
  'INVALID_SIGNAL_KEY',
  'WAIT_NOT_OPEN',
  'WAIT_KEY_REUSED',
  'CHECKPOINT_UNSETTLED',
  'STEP_ALREADY_RECORDED',
  'NONDETERMINISM',
  'EFFECT_RECORDED',
  'EFFECT_IN_FLIGHT',
  'EFFECT_BARRIER',
  'EFFECT_UNSETTLED',
  'EFFECT_ENTRY_CLOSED',
] as const;

export type RejectionCode = (typeof REJECTION_CODES)[number];

/** Facts that help whoever was refused: small, and free of payloads. */
export type RejectionDetails = Readonly<Record<string, string | number | boolean | null>>;

export type Accepted = { readonly ok: true; readonly events: readonly Event[] };
export type Rejected = {
  readonly ok: false;
  readonly code: RejectionCode;
  readonly details: RejectionDetails;
};
export type Decision = Accepted | Rejected;

const NO_DETAILS: RejectionDetails = {};

/** Accepting without events is an answer too: the command is right and there is nothing to record. */
export function accept(...events: Event[]): Accepted {
  return { ok: true, events };
}

export function reject(code: RejectionCode, details: RejectionDetails = NO_DETAILS): Rejected {
  return { ok: false, code, details };
}
