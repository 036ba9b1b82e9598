import type {
  Command,
  CommandOf,
  CommandType,
  EffectVerdict,
  InterruptCause,
  ResolveEffect,
} from './command.js';
import * as field from './field.js';
import { jobSpec } from './read-spec.js';
import * as is from './shape.js';

/** How many things one handler may wait for at once. More belong into several jobs. */
const MOST_WAITS = 10_000;
const waits = is.list(field.wait, { min: 1, max: MOST_WAITS });
const nullableText = is.nullable(is.jsonText);
const settleMs = is.duration({ min: 0 });
const consumedOutcome = is.oneOf('received', 'elapsed', 'timeout');
/** For what the transition itself judges, because a bad one has a code of its own. */
const anyText: is.Read<string> = (value) => {
  if (typeof value === 'string') return value;
  throw new is.Misfit('');
};

const cause = is.variant<InterruptCause, 'reason'>('reason', {
  lease_expired: is.object((it) => ({
    reason: 'lease_expired',
    leaseUntil: field.nullableTime(it.leaseUntil),
  })),
  worker_restarted: is.object((it) => ({ reason: 'worker_restarted', worker: field.worker(it.worker) })),
  drained: is.object(() => ({ reason: 'drained' })),
});

const happened = is.object<Extract<EffectVerdict, { kind: 'happened' }>>((it) => ({
  kind: 'happened',
  result: is.jsonText(it.result),
}));
const notHappened = is.object<{ kind: 'notHappened' }>(() => ({ kind: 'notHappened' }));
const verdict = is.variant<EffectVerdict, 'kind'>('kind', {
  happened,
  notHappened,
  cannotTell: is.object(() => ({ kind: 'cannotTell' })),
});
const operatorVerdict = is.variant<ResolveEffect['verdict'], 'kind'>('kind', {
  happened,
  notHappened,
  fail: is.object(() => ({ kind: 'fail' })),
});

const READERS: { readonly [T in CommandType]: is.Read<CommandOf<T>> } = {
  create: is.object((it) => ({
    type: 'create',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    spec: jobSpec(it.spec),
    input: is.jsonText(it.input),
  })),
  promote: is.object((it) => ({
    type: 'promote',
    now: is.present(it.now),
    actor: field.actor(it.actor),
  })),
  claim: is.object((it) => ({
    type: 'claim',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    worker: field.worker(it.worker),
    early: is.flag(it.early),
  })),
  heartbeat: is.object((it) => ({
    type: 'heartbeat',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
  })),
  complete: is.object((it) => ({
    type: 'complete',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    result: is.jsonText(it.result),
  })),
  'fail-attempt': is.object((it) => ({
    type: 'fail-attempt',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    failure: field.failure(it.failure),
  })),
  'time-out': is.object((it) => ({
    type: 'time-out',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
  })),
  'begin-wait': is.object((it) => ({
    type: 'begin-wait',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    waits: waits(it.waits),
  })),
  'consume-wait': is.object((it) => ({
    type: 'consume-wait',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    wait: field.wait(it.wait),
    outcome: consumedOutcome(it.outcome),
    payload: nullableText(it.payload),
  })),
  'complete-wait': is.object((it) => ({
    type: 'complete-wait',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    key: field.key(it.key),
    payload: nullableText(it.payload),
  })),
  'expire-waits': is.object((it) => ({
    type: 'expire-waits',
    now: is.present(it.now),
    actor: field.actor(it.actor),
  })),
  signal: is.object((it) => ({
    type: 'signal',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    key: anyText(it.key),
    payload: is.jsonText(it.payload),
    received: is.flag(it.received),
  })),
  interrupt: is.object((it) => ({
    type: 'interrupt',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    cause: cause(it.cause),
  })),
  'abort-recovery': is.object((it) => ({
    type: 'abort-recovery',
    now: is.present(it.now),
    actor: field.actor(it.actor),
  })),
  cancel: is.object((it) => ({
    type: 'cancel',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    reason: field.nullableReason(it.reason),
  })),
  'force-fail': is.object((it) => ({
    type: 'force-fail',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    reason: field.reason(it.reason),
  })),
  'expire-deadline': is.object((it) => ({
    type: 'expire-deadline',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    worker: field.worker(it.worker),
  })),
  'record-step': is.object((it) => ({
    type: 'record-step',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    startedAt: is.timestamp(it.startedAt),
    output: is.jsonText(it.output),
  })),
  'fail-step': is.object((it) => ({
    type: 'fail-step',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    startedAt: is.timestamp(it.startedAt),
    failure: field.failure(it.failure),
    retry: field.retryPolicy(it.retry),
  })),
  'begin-effect': is.object((it) => ({
    type: 'begin-effect',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    bodyMayRun: is.flag(it.bodyMayRun),
    storedResult: nullableText(it.storedResult),
    tool: field.name(it.tool),
    effectKey: field.hash(it.effectKey),
    input: is.jsonText(it.input),
  })),
  'record-effect': is.object((it) => ({
    type: 'record-effect',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    result: is.jsonText(it.result),
  })),
  'close-effect': is.object((it) => ({
    type: 'close-effect',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    failure: field.failure(it.failure),
  })),
  'doubt-effect': is.object((it) => ({
    type: 'doubt-effect',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    failure: field.failure(it.failure),
  })),
  'reconcile-effect': is.object((it) => ({
    type: 'reconcile-effect',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    bodyMayRun: is.flag(it.bodyMayRun),
    storedResult: nullableText(it.storedResult),
    verdict: verdict(it.verdict),
    settleMs: settleMs(it.settleMs),
  })),
  'resolve-effect': is.object((it) => ({
    type: 'resolve-effect',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    storedResult: nullableText(it.storedResult),
    verdict: operatorVerdict(it.verdict),
  })),
  'start-child': is.object((it) => ({
    type: 'start-child',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    wait: field.wait(it.wait),
    child: field.child(it.child),
  })),
  'save-checkpoint': is.object((it) => ({
    type: 'save-checkpoint',
    now: is.present(it.now),
    actor: field.actor(it.actor),
    attemptId: field.id(it.attemptId),
    state: is.jsonText(it.state),
  })),
};

export const COMMAND_TYPES = Object.keys(READERS) as readonly CommandType[];

/** A command of its type's exact shape, or a misfit. */
export const readCommand: is.Read<Command> = is.variant<Command, 'type'>('type', READERS);
