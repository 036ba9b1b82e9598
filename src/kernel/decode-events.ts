import { impliedPlaces, type PayloadPlace } from './encode-events.js';
import type { Event } from './event.js';
import { readEvent } from './read-event.js';
import * as is from './shape.js';

type RawEvent = Readonly<Record<string, unknown>>;
/** Step n turns an event as version n+1 wrote it into one as version n+2 would have. */
type Upgrade = (event: RawEvent) => RawEvent;
/**
 * Version 2 leaves out nulls, version 3 also what is usual or clear, version 4 says which job a job goes on with, version 5 leaves out more of
 * what is usual; each can read what the one before wrote as it stands.
 */
const UPGRADES: readonly Upgrade[] = [same, same, same, same];

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
  const places = header.payloads ?? impliedPlaces(header.events);
  if (places.length !== payloads.length) return unreadable('not as many payloads as events have places for');
  for (const [n, [index, field]] of places.entries()) {
    const event = header.events[index];
    if (event === undefined) return unreadable('a payload of no event');
    event[field] = payloads[n];
  }
  const events: Event[] = [];
  let previous: MutableEvent = {};
  for (const raw of header.events) {
    complete(raw, previous);
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

function same(event: RawEvent): RawEvent {
  return event;
}

/** What was left out because of what stands beside it. */
function complete(event: MutableEvent, previous: MutableEvent): void {
  event['at'] ??= previous['at'];
  event['actor'] ??= previous['actor'];
  const { type, spec } = event;
  if (type === 'step.recorded') {
    event['occurrence'] ??= 1;
    event['startedAt'] ??= event['at'];
  } else if (type === 'job.created' && is.isRecord(spec)) spec['scheduledAt'] ??= event['at'];
}

function unreadable(problem: string): Decoded {
  return { ok: false, code: 'EVENT_UNREADABLE', problem };
}

/** Fresh from the parser and nobody else's: it is completed in place. */
type MutableEvent = Record<string, unknown>;

type Header = {
  readonly v: number;
  /** Null where they are not mentioned. */
  readonly payloads: readonly PayloadPlace[] | null;
  readonly events: readonly MutableEvent[];
};

/** More than any commit holds. */
const MOST_EVENTS = 100_000;
const version = is.integer({ min: 1, max: 1_000_000 });

function parseHeader(text: string): Header | null {
  try {
    const it: unknown = JSON.parse(text);
    if (!is.isRecord(it) || !isListOf(is.isRecord, it['events']) || it['events'].length === 0) return null;
    const payloads = it['payloads'] ?? null;
    if (payloads !== null && !isListOf(isPlace, payloads)) return null;
    return { v: version(it['v']), payloads, events: it['events'] };
  } catch {
    return null;
  }
}

function isListOf<T>(isOne: (value: unknown) => value is T, value: unknown): value is T[] {
  if (!Array.isArray(value) || value.length > MOST_EVENTS) return false;
  for (let i = 0; i < value.length; i++) if (!isOne(value[i])) return false;
  return true;
}

const isPlace = (value: unknown): value is PayloadPlace =>
  Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'string';
