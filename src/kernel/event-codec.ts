import type { Event, EventType } from './event.js';
import { findEventFault } from './event-shape.js';
import { isRecord } from './shape.js';

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

/** Where a header says which field its payload line belongs to: what was written needs no table to be read. */
const PAYLOAD_MARK = '$';

/**
 * The events of one commit as text: a header line of JSON, then each payload on its own line, untouched.
 * Payloads are neither parsed nor escaped again. An event repeats `at` and `actor` only if they differ from the
 * event before it.
 */
export function encodeEvents(events: readonly Event[]): string {
  const headers: Record<string, unknown>[] = [];
  let payloads = '';
  let previous: Event | null = null;
  for (const event of events) {
    const header: Record<string, unknown> = { ...event };
    if (previous?.at === event.at) delete header['at'];
    if (previous?.actor === event.actor) delete header['actor'];
    const field = PAYLOAD_FIELD[event.type];
    if (field !== undefined && header[field] !== null) {
      payloads += `\n${header[field] as string}`;
      delete header[field];
      header[PAYLOAD_MARK] = field;
    }
    headers.push(header);
    previous = event;
  }
  return JSON.stringify({ v: CODEC_VERSION, events: headers }) + payloads;
}

export type Decoded =
  | { readonly ok: true; readonly events: readonly Event[] }
  | { readonly ok: false; readonly code: 'EVENT_UNREADABLE' | 'EVENT_TOO_NEW'; readonly problem: string };

/** Reads what this release or any earlier one wrote. Text that is not an encoded commit is an answer, not a throw. */
export function decodeEvents(body: string, upgrades: readonly Upgrade[] = UPGRADES): Decoded {
  const [header = '', ...payloads] = body.split('\n');
  const parsed = parseHeader(header);
  if (parsed === null) return unreadable('the header is not a commit');
  const latest = upgrades.length + 1;
  if (parsed.version > latest) {
    return {
      ok: false,
      code: 'EVENT_TOO_NEW',
      problem: `written in version ${parsed.version}, known up to ${latest}`,
    };
  }
  const events: Event[] = [];
  let stamp: RawEvent = {};
  for (const raw of parsed.events) {
    stamp = { at: raw['at'] ?? stamp['at'], actor: raw['actor'] ?? stamp['actor'] };
    const { [PAYLOAD_MARK]: field, ...rest } = raw;
    let event: RawEvent = { ...rest, ...stamp };
    if (typeof field === 'string') event = { ...event, [field]: payloads.shift() };
    for (const upgrade of upgrades.slice(parsed.version - 1)) event = upgrade(event);
    const fault = findEventFault(event);
    if (fault !== null) return unreadable(`event ${events.length}: ${fault}`);
    events.push(event as Event);
  }
  if (payloads.length > 0) return unreadable('more payloads than events hold');
  return { ok: true, events };
}

function unreadable(problem: string): Decoded {
  return { ok: false, code: 'EVENT_UNREADABLE', problem };
}

function parseHeader(text: string): { version: number; events: readonly RawEvent[] } | null {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(header)) return null;
  const { v, events } = header;
  if (!Number.isSafeInteger(v) || (v as number) < 1) return null;
  if (!Array.isArray(events) || events.length === 0 || !events.every(isRecord)) return null;
  return { version: v as number, events: events as RawEvent[] };
}
