import {
  DEFAULT_RETRY,
  type CommandOf,
  type CommandType,
  type ChildRef,
  type Failure,
  type Wait,
} from '../kernel/index.js';
import { aJobSpec, T0 } from './sample-job.js';

export const aFailure: Failure = {
  code: 'TASK_EXECUTION_FAILED',
  message: 'boom',
  retryable: true,
  class: 'transient',
};

export const aFatalFailure: Failure = {
  code: 'CARD_DECLINED',
  message: 'no',
  retryable: false,
  class: 'business_rule',
};

export function aWait(overrides: Partial<Wait> = {}): Wait {
  return {
    key: 'approval',
    kind: 'signal',
    step: 'approval',
    occurrence: 1,
    reason: null,
    expiresAt: null,
    ...overrides,
  };
}

export const aChild: ChildRef = { childId: 'job_child_01', task: 'ship', inputHash: 'hash-of-line' };

export function aChildWait(overrides: Partial<Wait> = {}): Wait {
  return aWait({ key: 'ship#1', kind: 'child', step: 'ship', ...overrides });
}

/** The sample worker's first claim. */
export const ATTEMPT = 'worker-a/1';

const base = { now: T0, actor: 'worker:worker-a' };
const held = { ...base, attemptId: ATTEMPT };
const step = { step: 'quote', occurrence: 1 };
const entry = { step: 'charge', occurrence: 1, entry: 1 };
const worker = { id: 'worker-a', incarnation: 'worker-a.1' };

const SAMPLES: { readonly [T in CommandType]: CommandOf<T> } = {
  create: { type: 'create', ...base, actor: 'client', spec: aJobSpec(), input: '{"id":1}' },
  promote: { type: 'promote', ...base, actor: 'scheduler' },
  claim: { type: 'claim', ...held, worker, early: false },
  heartbeat: { type: 'heartbeat', ...held },
  complete: { type: 'complete', ...held, result: '{"ok":true}' },
  'fail-attempt': { type: 'fail-attempt', ...held, failure: aFailure },
  'time-out': { type: 'time-out', ...held },
  'begin-wait': { type: 'begin-wait', ...held, waits: [aWait()] },
  'consume-wait': { type: 'consume-wait', ...held, wait: aWait(), outcome: 'received', payload: 'true' },
  'complete-wait': { type: 'complete-wait', ...base, key: 'approval', payload: 'true' },
  'expire-waits': { type: 'expire-waits', ...base, actor: 'scheduler' },
  signal: { type: 'signal', ...base, actor: 'client', key: 'approval', payload: 'true', received: false },
  interrupt: {
    type: 'interrupt',
    ...held,
    actor: 'recovery',
    cause: { reason: 'lease_expired', leaseUntil: T0 },
  },
  'abort-recovery': { type: 'abort-recovery', ...base, actor: 'recovery' },
  cancel: { type: 'cancel', ...base, actor: 'client', reason: null },
  'force-fail': { type: 'force-fail', ...base, actor: 'operator:key_1', reason: 'customer left' },
  'expire-deadline': {
    type: 'expire-deadline',
    ...base,
    actor: 'recovery',
    attemptId: 'recovery/1',
    worker: { id: 'recovery', incarnation: 'recovery.1' },
  },
  'record-step': { type: 'record-step', ...held, ...step, startedAt: T0, output: '{"cents":100}' },
  'fail-step': {
    type: 'fail-step',
    ...held,
    ...step,
    startedAt: T0,
    failure: aFailure,
    retry: { ...DEFAULT_RETRY, maxRetries: 2 },
  },
  'begin-effect': {
    type: 'begin-effect',
    ...held,
    step: 'charge',
    occurrence: 1,
    tool: 'stripe.charge',
    effectKey: 'key-of-charge',
    input: '{"cents":100}',
    bodyMayRun: false,
    storedResult: null,
  },
  'record-effect': { type: 'record-effect', ...held, ...entry, result: '"ch_1"' },
  'close-effect': { type: 'close-effect', ...held, ...entry, failure: aFailure },
  'doubt-effect': { type: 'doubt-effect', ...held, ...entry, failure: aFailure },
  'reconcile-effect': {
    type: 'reconcile-effect',
    ...held,
    ...entry,
    verdict: { kind: 'notHappened' },
    bodyMayRun: false,
    settleMs: 0,
    storedResult: null,
  },
  'resolve-effect': {
    type: 'resolve-effect',
    ...base,
    ...entry,
    actor: 'operator:key_1',
    storedResult: null,
    verdict: { kind: 'notHappened' },
  },
  'start-child': { type: 'start-child', ...held, wait: aChildWait(), child: aChild },
  'save-checkpoint': { type: 'save-checkpoint', ...held, state: '{"i":10}' },
};

/** A well-formed command of the sample worker, with whatever matters to the case at hand put in its place. */
export function command<T extends CommandType>(
  type: T,
  overrides: Partial<Omit<CommandOf<T>, 'type'>> = {},
): CommandOf<T> {
  return { ...SAMPLES[type], ...overrides };
}
