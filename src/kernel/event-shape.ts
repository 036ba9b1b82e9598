import type { EventOf, EventType } from './event.js';
import * as field from './field.js';
import { DEAD_LETTER_REASONS, INTERRUPTED_REASONS } from './job.js';
import * as is from './shape.js';
import { WAIT_OUTCOMES } from './wait.js';

type Shapes = { readonly [T in EventType]: is.Fields<Omit<EventOf<T>, 'type' | 'at' | 'actor'>> };

const entry = { ...field.stepRef, entry: field.ordinal };
/** Payloads were checked on their way in; here one may also be erased. */
const payload: is.Check = (value) => (typeof value === 'string' ? null : '');

const SHAPES: Shapes = {
  'job.created': { spec: field.jobSpec, input: payload },
  'job.promoted': {},
  'job.succeeded': { result: payload },
  'job.failed': {},
  'job.cancelled': { reason: is.nullable(is.text(1_000)) },
  'attempt.started': { attemptId: field.id, worker: field.worker },
  'attempt.failed': { failure: field.failure, retryCount: field.ordinal, nextRetryAt: is.timestamp },
  'attempt.interrupted': { reason: is.oneOf(...INTERRUPTED_REASONS) },
  'wait.begun': { waits: is.list(field.wait, { min: 0, max: 10_000 }) },
  'wait.completed': { wait: field.wait, outcome: is.oneOf(...WAIT_OUTCOMES), payload: is.nullable(payload) },
  'dlq.entered': {
    from: is.oneOf('running', 'retrying', 'interrupted'),
    reason: is.oneOf(...DEAD_LETTER_REASONS),
    failure: field.failure,
  },
  'dlq.recorded': { dlqId: field.id },
  'step.recorded': { ...field.stepRef, startedAt: is.timestamp, output: payload },
  'step.failed': {
    ...field.stepRef,
    startedAt: is.timestamp,
    tries: field.ordinal,
    failure: field.failure,
    nextTryAt: is.nullable(is.timestamp),
  },
  'effect.intended': { ...entry, tool: field.name, effectKey: is.text(128), input: payload },
  'effect.recorded': { ...entry, result: payload },
  'effect.closed': { ...entry, failure: field.failure },
  'effect.unknown': { ...entry, failure: field.failure },
  'effect.reconciled': {
    ...entry,
    verdict: is.oneOf('happened', 'notHappened', 'cannotTell'),
    result: is.nullable(payload),
  },
  'child.started': { wait: field.wait, child: field.child },
  'checkpoint.saved': { state: payload, occurrences: is.dictionary(field.ordinal) },
};

export const EVENT_TYPES = Object.keys(SHAPES) as readonly EventType[];

/** The path of the first field that does not fit the event's type, or null if all do. */
export const findEventFault: is.Check = is.variant(
  'type',
  Object.fromEntries(
    Object.entries(SHAPES).map(([type, fields]) => [
      type,
      is.object({ type: is.known, at: is.timestamp, actor: field.actor, ...fields }),
    ]),
  ),
);
