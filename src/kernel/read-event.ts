import type { Event, EventOf, EventType } from './event.js';
import * as field from './field.js';
import { DEAD_LETTER_REASONS, INTERRUPTED_REASONS } from './job.js';
import { storedSpec } from './read-spec.js';
import * as is from './shape.js';
import { namesake } from './usual.js';
import { WAIT_OUTCOMES } from './wait.js';

/** Payloads were judged on their way in; here one may also be erased. */
const payload: is.Read<string> = (value) => {
  if (typeof value === 'string') return value;
  throw new is.Misfit('');
};
const optionalPayload = is.optional(payload);
const waits = is.list(field.wait, { min: 0, max: 10_000 });
const interruptedReason = is.oneOf(...INTERRUPTED_REASONS);
const waitOutcome = is.oneOf(...WAIT_OUTCOMES);
const deadLetteredFrom = is.oneOf('running', 'retrying', 'interrupted');
const deadLetterReason = is.oneOf(...DEAD_LETTER_REASONS);
const verdict = is.oneOf('happened', 'notHappened', 'cannotTell');
const occurrences = is.dictionary(field.ordinal);

const READERS: { readonly [T in EventType]: is.Read<EventOf<T>> } = {
  'job.created': is.object((it) => ({
    type: 'job.created',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    spec: storedSpec(it.spec),
    input: payload(it.input),
  })),
  'job.promoted': is.object((it) => ({
    type: 'job.promoted',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
  })),
  'job.succeeded': is.object((it) => ({
    type: 'job.succeeded',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    result: payload(it.result),
  })),
  'job.failed': is.object((it) => ({
    type: 'job.failed',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
  })),
  'job.cancelled': is.object((it) => ({
    type: 'job.cancelled',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    reason: field.nullableReason(it.reason),
  })),
  'attempt.started': is.sparse((it) => {
    const at = is.timestamp(it.at);
    const actor = field.actor(it.actor);
    const attemptId = field.id(it.attemptId);
    const worker = field.worker(it.worker === undefined ? namesake({ actor, attemptId }) : it.worker);
    return { type: 'attempt.started', at, actor, attemptId, worker };
  }),
  'attempt.failed': is.object((it) => ({
    type: 'attempt.failed',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    failure: field.failure(it.failure),
    retryCount: field.ordinal(it.retryCount),
    nextRetryAt: is.timestamp(it.nextRetryAt),
  })),
  'attempt.interrupted': is.object((it) => ({
    type: 'attempt.interrupted',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    reason: interruptedReason(it.reason),
  })),
  'wait.begun': is.object((it) => ({
    type: 'wait.begun',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    waits: waits(it.waits),
  })),
  'wait.completed': is.sparse((it) => ({
    type: 'wait.completed',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    wait: field.wait(it.wait),
    outcome: waitOutcome(it.outcome),
    payload: optionalPayload(it.payload),
  })),
  'dlq.entered': is.object((it) => ({
    type: 'dlq.entered',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    from: deadLetteredFrom(it.from),
    reason: deadLetterReason(it.reason),
    failure: field.failure(it.failure),
  })),
  'dlq.recorded': is.object((it) => ({
    type: 'dlq.recorded',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    dlqId: field.id(it.dlqId),
  })),
  'step.recorded': is.object((it) => ({
    type: 'step.recorded',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    startedAt: is.timestamp(it.startedAt),
    output: payload(it.output),
  })),
  'step.failed': is.object((it) => ({
    type: 'step.failed',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    startedAt: is.timestamp(it.startedAt),
    tries: field.ordinal(it.tries),
    failure: field.failure(it.failure),
    nextTryAt: field.nullableTime(it.nextTryAt),
  })),
  'effect.intended': is.object((it) => ({
    type: 'effect.intended',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    tool: field.name(it.tool),
    effectKey: field.hash(it.effectKey),
    input: payload(it.input),
  })),
  'effect.recorded': is.object((it) => ({
    type: 'effect.recorded',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    result: payload(it.result),
  })),
  'effect.closed': is.object((it) => ({
    type: 'effect.closed',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    failure: field.failure(it.failure),
  })),
  'effect.unknown': is.object((it) => ({
    type: 'effect.unknown',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    failure: field.failure(it.failure),
  })),
  'effect.reconciled': is.sparse((it) => ({
    type: 'effect.reconciled',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    step: field.stepName(it.step),
    occurrence: field.ordinal(it.occurrence),
    entry: field.ordinal(it.entry),
    verdict: verdict(it.verdict),
    result: optionalPayload(it.result),
  })),
  'child.started': is.object((it) => ({
    type: 'child.started',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    wait: field.wait(it.wait),
    child: field.child(it.child),
  })),
  'checkpoint.saved': is.object((it) => ({
    type: 'checkpoint.saved',
    at: is.timestamp(it.at),
    actor: field.actor(it.actor),
    state: payload(it.state),
    occurrences: occurrences(it.occurrences),
  })),
};

export const EVENT_TYPES = Object.keys(READERS) as readonly EventType[];

/** An event of its type's exact shape, or a misfit. */
export const readEvent: is.Read<Event> = is.variant<Event, 'type'>('type', READERS);
