import type { CommandOf, CommandType, EffectVerdict, InterruptCause, ResolveEffect } from './command.js';
import * as field from './field.js';
import * as is from './shape.js';

type Shapes = { readonly [T in CommandType]: is.Fields<Omit<CommandOf<T>, 'type' | 'now' | 'actor'>> };

/** How many things one handler may wait for at once. More belong into several jobs. */
const MOST_WAITS = 10_000;

const attemptId = field.id;
const heldStep = { attemptId, ...field.stepRef };
const heldEntry = { ...heldStep, entry: field.ordinal };
const storedResult = is.nullable(is.jsonText);
const entryFacts = { bodyMayRun: is.flag, storedResult };
const verdictKind = (...kinds: string[]) => is.object<{ kind: string }>({ kind: is.oneOf(...kinds) });
const happened = is.object<Extract<EffectVerdict, { kind: 'happened' }>>({
  kind: is.oneOf('happened'),
  result: is.jsonText,
});

const causes: Record<InterruptCause['reason'], is.Check> = {
  lease_expired: is.object<Extract<InterruptCause, { reason: 'lease_expired' }>>({
    reason: is.oneOf('lease_expired'),
    leaseUntil: is.nullable(is.timestamp),
  }),
  worker_restarted: is.object<Extract<InterruptCause, { reason: 'worker_restarted' }>>({
    reason: is.oneOf('worker_restarted'),
    worker: field.worker,
  }),
  drained: is.object<{ reason: 'drained' }>({ reason: is.oneOf('drained') }),
};

const verdicts: Record<EffectVerdict['kind'], is.Check> = {
  happened,
  notHappened: verdictKind('notHappened'),
  cannotTell: verdictKind('cannotTell'),
};

const decisions: Record<ResolveEffect['verdict']['kind'], is.Check> = {
  happened,
  notHappened: verdictKind('notHappened'),
  fail: verdictKind('fail'),
};

const SHAPES: Shapes = {
  create: { spec: field.jobSpec, input: is.jsonText },
  promote: {},
  claim: { attemptId, worker: field.worker, early: is.flag },
  heartbeat: { attemptId },
  complete: { attemptId, result: is.jsonText },
  'fail-attempt': { attemptId, failure: field.failure },
  'time-out': { attemptId },
  'begin-wait': { attemptId, waits: is.list(field.wait, { min: 1, max: MOST_WAITS }) },
  'consume-wait': {
    attemptId,
    wait: field.wait,
    outcome: is.oneOf('received', 'elapsed', 'timeout'),
    payload: is.nullable(is.jsonText),
  },
  'complete-wait': { key: field.key, payload: is.nullable(is.jsonText) },
  'expire-waits': {},
  // The key is judged by the transition itself: a bad one has a code of its own.
  signal: {
    key: (value) => (typeof value === 'string' ? null : ''),
    payload: is.jsonText,
    received: is.flag,
  },
  interrupt: { attemptId, cause: is.variant('reason', causes) },
  'abort-recovery': {},
  cancel: { reason: is.nullable(is.text(1_000)) },
  'force-fail': { reason: is.text(1_000) },
  'expire-deadline': { attemptId, worker: field.worker },
  'record-step': { ...heldStep, startedAt: is.timestamp, output: is.jsonText },
  'fail-step': { ...heldStep, startedAt: is.timestamp, failure: field.failure, retry: field.retryPolicy },
  'begin-effect': {
    ...heldStep,
    ...entryFacts,
    tool: field.name,
    effectKey: is.text(128),
    input: is.jsonText,
  },
  'record-effect': { ...heldEntry, result: is.jsonText },
  'close-effect': { ...heldEntry, failure: field.failure },
  'doubt-effect': { ...heldEntry, failure: field.failure },
  'reconcile-effect': {
    ...heldEntry,
    ...entryFacts,
    verdict: is.variant('kind', verdicts),
    settleMs: is.duration({ min: 0 }),
  },
  'resolve-effect': {
    ...field.stepRef,
    entry: field.ordinal,
    storedResult,
    verdict: is.variant('kind', decisions),
  },
  'start-child': { attemptId, wait: field.wait, child: field.child },
  'save-checkpoint': { attemptId, state: is.jsonText },
};

const CHECKS: Readonly<Record<string, is.Check>> = Object.fromEntries(
  Object.entries(SHAPES).map(([type, fields]) => [
    type,
    is.object({ type: is.known, now: is.present, actor: field.actor, ...fields }),
  ]),
);

export const COMMAND_TYPES = Object.keys(SHAPES) as readonly CommandType[];

/** The path of the first field that does not fit the command's type, or null if all do. */
export const findCommandFault: is.Check = is.variant('type', CHECKS);
