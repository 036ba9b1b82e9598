import type { Event } from './event.js';
import { readEvent } from './read-event.js';
import * as is from './shape.js';

type RawEvent = Readonly<Record<string, unknown>>;
/** Step n turns an event as version n+1 wrote it into one as version n+2 would have. */
type Upgrade = (event: RawEvent) => RawEvent;
/** Version 2 leaves nulls out; what version 1 wrote it can read as it stands. */
const UPGRADES: readonly Upgrade[] = [(event) => event];

/** Which event of the commit a payload line belongs to, and as which field. */
type PayloadPlace = readonly [event: number, field: string];

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
    for (let v = header.v; v < latest; v++) event = (upgrades[v - 1] as Upgrade)(event);
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

const NO_PLACES: readonly PayloadPlace[] = [];
/** Payloads are not mentioned where there are none. */
const readHeader = (it: Readonly<Record<string, unknown>>): Header => ({
  v: version(it['v']),
  payloads: it['payloads'] === undefined ? NO_PLACES : places(it['payloads']),
  events: rawEvents(it['events']),
});

function parseHeader(text: string): Header | null {
  try {
    return readHeader(rawEvent(JSON.parse(text)));
  } catch {
    return null;
  }
}
