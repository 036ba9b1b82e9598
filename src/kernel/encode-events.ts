import type { Event, EventOf, EventType } from './event.js';
import type { JobSpec } from './job.js';
import type { JsonText } from './payload.js';

/**
 * The version that this release writes. It reads every version from 1 on, and refuses a later one. A change of
 * any event's fields takes a new number, a step in UPGRADES, and a new golden file beside the old ones. A release
 * that can read a new version must be out everywhere before one writes it.
 */
export const CODEC_VERSION = 2;

/**
 * Events that hold user data: in which field, and how the rest is written. The payload goes on a line of its own.
 * Each is taken apart field by field, which costs a third of a loop over the names (bench/kernel.ts).
 */
type Split<T extends EventType> = {
  readonly field: string;
  readonly payloadOf: (event: EventOf<T>) => JsonText | null;
  readonly rest: (event: EventOf<T>) => object;
};

const SPLIT: { readonly [T in EventType]?: Split<T> } = {
  'job.created': {
    field: 'input',
    payloadOf: ({ input }) => input,
    rest: ({ type, at, actor, spec }) => ({ type, at, actor, spec: withoutNulls(spec) }),
  },
  'job.succeeded': {
    field: 'result',
    payloadOf: ({ result }) => result,
    rest: ({ type, at, actor }) => ({ type, at, actor }),
  },
  'wait.completed': {
    field: 'payload',
    payloadOf: ({ payload }) => payload,
    rest: ({ type, at, actor, wait, outcome }) => ({ type, at, actor, wait, outcome }),
  },
  'step.recorded': {
    field: 'output',
    payloadOf: ({ output }) => output,
    rest: ({ type, at, actor, step, occurrence, startedAt }) => ({
      type,
      at,
      actor,
      step,
      occurrence,
      startedAt,
    }),
  },
  'effect.intended': {
    field: 'input',
    payloadOf: ({ input }) => input,
    rest: ({ type, at, actor, step, occurrence, entry, tool, effectKey }) => ({
      type,
      at,
      actor,
      step,
      occurrence,
      entry,
      tool,
      effectKey,
    }),
  },
  'effect.recorded': {
    field: 'result',
    payloadOf: ({ result }) => result,
    rest: ({ type, at, actor, step, occurrence, entry }) => ({ type, at, actor, step, occurrence, entry }),
  },
  'effect.reconciled': {
    field: 'result',
    payloadOf: ({ result }) => result,
    rest: ({ type, at, actor, step, occurrence, entry, verdict }) => ({
      type,
      at,
      actor,
      step,
      occurrence,
      entry,
      verdict,
    }),
  },
  'checkpoint.saved': {
    field: 'state',
    payloadOf: ({ state }) => state,
    rest: ({ type, at, actor, occurrences }) => ({ type, at, actor, occurrences }),
  },
};

/** Which event of the commit a payload line belongs to, and as which field: what was written needs no table to be read. */
type PayloadPlace = readonly [event: number, field: string];

/**
 * The events of one commit as text: a header line of JSON, then each payload on its own line, untouched.
 * Payloads are neither parsed nor escaped again. An event repeats `at` and `actor` only if they differ from the
 * event before it, and what is null in a job's spec is left out.
 */
export function encodeEvents(events: readonly Event[]): string {
  if (events.length === 1) return encodeOne(events[0] as Event);
  const headers: object[] = [];
  const places: PayloadPlace[] = [];
  let payloads = '';
  let previous: Event | null = null;
  for (const event of events) {
    const split = SPLIT[event.type] as Split<EventType> | undefined;
    const payload = split ? split.payloadOf(event) : null;
    let header: object = split ? split.rest(event) : event;
    if (split && payload !== null) {
      places.push([headers.length, split.field]);
      payloads += `\n${payload}`;
    }
    if (previous !== null) header = withoutRepeats(header as Stamped, previous);
    headers.push(header);
    previous = event;
  }
  const head =
    places.length > 0
      ? { v: CODEC_VERSION, payloads: places, events: headers }
      : { v: CODEC_VERSION, events: headers };
  return JSON.stringify(head) + payloads;
}

/** Most commits have one event; what goes around it is put together by hand, as is the event itself if it is of the hot ones. */
function encodeOne(event: Event): string {
  const { type } = event;
  const split = SPLIT[type] as Split<EventType> | undefined;
  const byHand = BY_HAND[type] as ((event: Event) => string) | undefined;
  const header = byHand ? byHand(event) : JSON.stringify(split ? split.rest(event) : event);
  const payload = split ? split.payloadOf(event) : null;
  if (!split || payload === null) return `{"v":${CODEC_VERSION},"events":[${header}]}`;
  return `{"v":${CODEC_VERSION},"payloads":[[0,"${split.field}"]],"events":[${header}]}\n${payload}`;
}

/** What every job goes through, letter by letter as JSON has it, at half the cost of an object or less. */
const BY_HAND: { readonly [T in EventType]?: (event: EventOf<T>) => string } = {
  'attempt.started': ({ at, actor, attemptId, worker: { id, incarnation } }) =>
    `{"type":"attempt.started","at":${at},"actor":${quote(actor)},"attemptId":${quote(attemptId)},` +
    `"worker":{"id":${quote(id)},"incarnation":${quote(incarnation)}}}`,
  'job.succeeded': ({ at, actor }) => `{"type":"job.succeeded","at":${at},"actor":${quote(actor)}}`,
  'step.recorded': ({ at, actor, step, occurrence, startedAt }) =>
    `{"type":"step.recorded","at":${at},"actor":${quote(actor)},"step":${quote(step)},` +
    `"occurrence":${occurrence},"startedAt":${startedAt}}`,
};

const quote = (text: string): string => JSON.stringify(text);

type Stamped = Pick<Event, 'at' | 'actor'>;

/** What is undefined is not written. */
function withoutRepeats(header: Stamped, previous: Stamped): object {
  return {
    ...header,
    at: header.at === previous.at ? undefined : header.at,
    actor: header.actor === previous.actor ? undefined : header.actor,
  };
}

/** A log keeps every spec for years, and most of a spec is null. */
function withoutNulls(spec: JobSpec): object {
  return {
    ...spec,
    version: spec.version ?? undefined,
    idempotencyScope: spec.idempotencyScope ?? undefined,
    traceparent: spec.traceparent ?? undefined,
    deadlineAt: spec.deadlineAt ?? undefined,
    timeoutMs: spec.timeoutMs ?? undefined,
    stepTimeoutMs: spec.stepTimeoutMs ?? undefined,
    signals: spec.signals ?? undefined,
    concurrencyKey: spec.concurrencyKey ?? undefined,
    parent: spec.parent ?? undefined,
    firedBy: spec.firedBy ?? undefined,
    requeuedFrom: spec.requeuedFrom ?? undefined,
  };
}
