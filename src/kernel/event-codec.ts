import type { Event, EventType } from './event.js';
import { readEvent } from './read-event.js';
import * as is from './shape.js';

/**
 * The version that this release writes. It reads every version from 1 on, and refuses a later one. A change of
 * any event's fields takes a new number, a step in UPGRADES, and a new golden file beside the old ones. A release
 * that can read a new version must be out everywhere before one writes it.
 */
export const CODEC_VERSION = 1;

type RawEvent = Readonly<Record<string, unknown>>;
/** Step n turns an event as version n+1 wrote it into one as version n+2 would have. */
type Upgrade = (event: RawEvent) => RawEvent;
const UPGRADES: readonly Upgrade[] = [];

/** The field of an event that holds user data. It is written on a line of its own, and the header names it. */
const PAYLOAD_FIELD: Readonly<Partial<Record<EventType, string>>> = {
  'job.created': 'input',
  'job.succeeded': 'result',
  'wait.completed': 'payload',
  'step.recorded': 'output',
  'effect.intended': 'input',
  'effect.recorded': 'result',
  'effect.reconciled': 'result',
  'checkpoint.saved': 'state',
};

/** Which event of the commit a payload line belongs to, and as which field: what was written needs no table to be read. */
type PayloadPlace = readonly [event: number, field: string];

/**
 * The events of one commit as text: a header line of JSON, then each payload on its own line, untouched.
 * Payloads are neither parsed nor escaped again. An event repeats `at` and `actor` only if they differ from the
 * event before it.
 */
export function encodeEvents(events: readonly Event[]): string {
  const headers: RawEvent[] = [];
  const places: PayloadPlace[] = [];
  let payloads = '';
  let previous: Event | null = null;
  for (const event of events) {
    const payloadField = PAYLOAD_FIELD[event.type];
    const fields = event as unknown as RawEvent;
    const header: Record<string, unknown> = {};
    for (const name in fields) {
      if (name === 'at' && previous?.at === event.at) continue;
      if (name === 'actor' && previous?.actor === event.actor) continue;
      const value = fields[name];
      if (name === payloadField && value !== null) {
        places.push([headers.length, name]);
        payloads += `\n${value as string}`;
      } else {
        header[name] = value;
      }
    }
    headers.push(header);
    previous = event;
  }
  return JSON.stringify({ v: CODEC_VERSION, payloads: places, events: headers }) + payloads;
}

export type Decoded =
  | { readonly ok: true; readonly events: readonly Event[] }
  | { readonly ok: false; readonly code: 'EVENT_UNREADABLE' | 'EVENT_TOO_NEW'; readonly problem: string };

/** Reads what this release or any earlier one wrote. Text that is not an encoded commit is an answer, not a throw. */
export function decodeEvents(body: string, upgrades: readonly Upgrade[] = UPGRADES): Decoded {
  const [line = '', ...payloads] = body.split('\n');
  const header = parseHeader(line);
  if (header === null) return unreadable('the header is not a commit');
  const latest = upgrades.length + 1;
  if (header.v > latest) {
    return {
      ok: false,
      code: 'EVENT_TOO_NEW',
      problem: `written in version ${header.v}, known up to ${latest}`,
    };
  }
  if (header.payloads.length !== payloads.length)
    return unreadable('not as many payloads as the header names');
  for (const [n, [index, field]] of header.payloads.entries()) {
    const event = header.events[index];
    if (event === undefined) return unreadable('a payload of no event');
    event[field] = payloads[n];
  }
  const events: Event[] = [];
  let previous: MutableEvent = {};
  for (const raw of header.events) {
    raw['at'] ??= previous['at'];
    raw['actor'] ??= previous['actor'];
    previous = raw;
    let event: RawEvent = raw;
    for (const upgrade of upgrades.slice(header.v - 1)) event = upgrade(event);
    try {
      events.push(readEvent(event));
    } catch (thrown) {
      return unreadable(`event ${events.length}: ${is.pathOf(thrown)}`);
    }
  }
  return { ok: true, events };
}

function unreadable(problem: string): Decoded {
  return { ok: false, code: 'EVENT_UNREADABLE', problem };
}

/** Fresh from the parser and nobody else's: it is completed in place. */
type MutableEvent = Record<string, unknown>;

type Header = {
  readonly v: number;
  readonly payloads: readonly PayloadPlace[];
  readonly events: readonly MutableEvent[];
};

const place: is.Read<PayloadPlace> = (value) => {
  if (Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'string') {
    return [value[0], value[1]];
  }
  throw new is.Misfit('');
};

const rawEvent: is.Read<MutableEvent> = (value) => {
  if (is.isRecord(value)) return value;
  throw new is.Misfit('');
};

/** More than any commit holds. */
const MOST_EVENTS = 100_000;
const version = is.integer({ min: 1, max: 1_000_000 });
const places = is.list(place, { min: 0, max: MOST_EVENTS });
const rawEvents = is.list(rawEvent, { min: 1, max: MOST_EVENTS });

const readHeader = is.object<Header>((it) => ({
  v: version(it.v),
  payloads: places(it.payloads),
  events: rawEvents(it.events),
}));

function parseHeader(text: string): Header | null {
  try {
    return readHeader(JSON.parse(text));
  } catch {
    return null;
  }
}
