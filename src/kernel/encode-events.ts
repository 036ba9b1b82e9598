import { encodeSpec, quote } from './encode-spec.js';
import type { Event, EventOf, EventType } from './event.js';
import type { JsonText } from './payload.js';
import { isNamedAfter } from './usual.js';

/**
 * The version that this release writes. It reads every version from 1 on, and refuses a later one. A change of
 * any event's fields takes a new number, a step in UPGRADES, and a new golden file beside the old ones. A release
 * that can read a new version must be out everywhere before one writes it.
 */
export const CODEC_VERSION = 5;

/**
 * Events that hold user data: in which field, and how the rest is written. The payload goes on a line of its own.
 * Each is taken apart field by field, which costs a third of a loop over the names (bench/kernel.ts).
 */
type Split<T extends EventType> = {
  readonly field: string;
  readonly payloadOf: (event: EventOf<T>) => JsonText | null;
  /** Some of these events have no payload. */
  readonly isOptional?: true;
  /** Not for what is written by hand. */
  readonly rest?: (event: EventOf<T>) => object;
};

const SPLIT: { readonly [T in EventType]?: Split<T> } = {
  'job.created': {
    field: 'input',
    payloadOf: ({ input }) => input,
  },
  'job.succeeded': {
    field: 'result',
    payloadOf: ({ result }) => result,
  },
  'wait.completed': {
    field: 'payload',
    payloadOf: ({ payload }) => payload,
    isOptional: true,
    rest: ({ type, at, actor, wait, outcome }) => ({ type, at, actor, wait, outcome }),
  },
  'step.recorded': {
    field: 'output',
    payloadOf: ({ output }) => output,
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
    isOptional: true,
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

/**
 * The events of one commit as text: a header line of JSON, then each payload on its own line, untouched.
 * Payloads are neither parsed nor escaped again. An event repeats `at` and `actor` only if they differ from the
 * event before it, and what is null or usual is left out: a job that is due when it is created, a name that comes once, a step that began in
 * the millisecond in which it was recorded. Which event a line belongs to is said only where one of them may also have
 * none: else they have one each, in order.
 */
export function encodeEvents(events: readonly Event[]): string {
  let headers = '';
  let payloads = '';
  let isClear = true;
  let previous: Event | null = null;
  for (let index = 0; index < events.length; index++) {
    const event = events[index] as Event;
    const split = SPLIT[event.type] as Split<EventType> | undefined;
    if (split) {
      const payload = split.payloadOf(event);
      if (payload !== null) payloads += `\n${payload}`;
      if (split.isOptional) isClear = false;
    }
    headers += `${index === 0 ? '' : ','}${headerOf(event, previous)}`;
    previous = event;
  }
  const places = isClear || payloads === '' ? '' : `"payloads":${JSON.stringify(placesOf(events))},`;
  return `{"v":${CODEC_VERSION},${places}"events":[${headers}]}${payloads}`;
}

/** Which event of the commit a payload line belongs to, and as which field. */
export type PayloadPlace = readonly [event: number, field: string];

function placesOf(events: readonly Event[]): PayloadPlace[] {
  const places: PayloadPlace[] = [];
  for (const [index, event] of events.entries()) {
    const split = SPLIT[event.type] as Split<EventType> | undefined;
    if (split && split.payloadOf(event) !== null) places.push([index, split.field]);
  }
  return places;
}

/** The same where it was not said. */
export function impliedPlaces(events: readonly { readonly type?: unknown }[]): PayloadPlace[] {
  const places: PayloadPlace[] = [];
  for (let index = 0; index < events.length; index++) {
    const type = events[index]?.type;
    const split = typeof type === 'string' ? SPLIT[type as EventType] : undefined;
    if (split && !split.isOptional) places.push([index, split.field]);
  }
  return places;
}

function headerOf(event: Event, previous: Event | null): string {
  const { type } = event;
  const byHand = BY_HAND[type] as ((event: Event) => string) | undefined;
  if (byHand) return `{"type":"${type}"${stampOf(event, previous)}${byHand(event)}}`;
  const split = SPLIT[type] as Split<EventType> | undefined;
  const header = split?.rest ? split.rest(event) : event;
  return JSON.stringify(previous === null ? header : withoutRepeats(header as Stamped, previous));
}

/** What every job goes through, letter by letter as JSON has it, at half the cost of an object or less: what follows the stamp. */
const BY_HAND: { readonly [T in EventType]?: (event: EventOf<T>) => string } = {
  'job.created': ({ spec, at }) => `,"spec":${encodeSpec(spec, at)}`,
  'job.promoted': () => '',
  'attempt.started': (event) => {
    const { attemptId, worker } = event;
    const named = `,"attemptId":${quote(attemptId)}`;
    return isNamedAfter(worker, event) ? named : `${named},"worker":${JSON.stringify(worker)}`;
  },
  'job.succeeded': () => '',
  'step.recorded': ({ step, occurrence, startedAt, at }) => {
    const count = occurrence === 1 ? '' : `,"occurrence":${occurrence}`;
    return `,"step":${quote(step)}${count}${startedAt === at ? '' : `,"startedAt":${startedAt}`}`;
  },
};

let lastActor = { name: '', quoted: '""' };

/** The same worker comes a thousand times in a row. */
function quoteActor(name: string): string {
  if (name !== lastActor.name) lastActor = { name, quoted: quote(name) };
  return lastActor.quoted;
}

type Stamped = Pick<Event, 'at' | 'actor'>;

function stampOf({ at, actor }: Stamped, previous: Stamped | null): string {
  const time = at === previous?.at ? '' : `,"at":${at}`;
  return actor === previous?.actor ? time : `${time},"actor":${quoteActor(actor)}`;
}

/** What is undefined is not written. */
function withoutRepeats(header: Stamped, previous: Stamped): object {
  return {
    ...header,
    at: header.at === previous.at ? undefined : header.at,
    actor: header.actor === previous.actor ? undefined : header.actor,
  };
}
