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
 * event before it, and what is null in a job's spec is left out. `payloads` says which event each line belongs to, and as
 * which field: what was written needs no table to be read.
 */
export function encodeEvents(events: readonly Event[]): string {
  let headers = '';
  let places = '';
  let payloads = '';
  let previous: Event | null = null;
  for (let index = 0; index < events.length; index++) {
    const event = events[index] as Event;
    const split = SPLIT[event.type] as Split<EventType> | undefined;
    const payload = split ? split.payloadOf(event) : null;
    if (split && payload !== null) {
      places += `${places === '' ? '' : ','}[${index},"${split.field}"]`;
      payloads += `\n${payload}`;
    }
    headers += `${index === 0 ? '' : ','}${headerOf(event, previous)}`;
    previous = event;
  }
  const payloadPlaces = places === '' ? '' : `"payloads":[${places}],`;
  return `{"v":${CODEC_VERSION},${payloadPlaces}"events":[${headers}]}${payloads}`;
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
  'job.created': ({ spec }) => `,"spec":${encodeSpec(spec)}`,
  'job.promoted': () => '',
  'attempt.started': ({ attemptId, worker: { id, incarnation } }) =>
    `,"attemptId":${quote(attemptId)},"worker":{"id":${quoteWorker(id)},"incarnation":${quoteIncarnation(incarnation)}}`,
  'job.succeeded': () => '',
  'step.recorded': ({ step, occurrence, startedAt }) =>
    `,"step":${quote(step)},"occurrence":${occurrence},"startedAt":${startedAt}`,
};

const quote = (text: string): string => JSON.stringify(text);

/** For a field whose value mostly is that of the event before: the same worker, task and tenant come a thousand times in a row. */
function quoteAgain(): (text: string) => string {
  let known = '';
  let quoted = '""';
  return (text) => {
    if (text !== known) [known, quoted] = [text, quote(text)];
    return quoted;
  };
}
const quoteActor = quoteAgain();
const quoteWorker = quoteAgain();
const quoteIncarnation = quoteAgain();
const quoteTenant = quoteAgain();
const quoteTask = quoteAgain();
const quoteQueue = quoteAgain();

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

/** Without nulls: a log keeps every spec for years, and most of a spec is null. */
function encodeSpec(spec: JobSpec): string {
  const { retry } = spec;
  const jobId = quote(spec.jobId);
  // Unless it was told otherwise, a job has its id for these two as well.
  const orJobId = (text: string): string => (text === spec.jobId ? jobId : quote(text));
  return (
    `{"jobId":${jobId},"tenantId":${quoteTenant(spec.tenantId)},"task":${quoteTask(spec.task)}` +
    textField('version', spec.version) +
    `,"taskId":${orJobId(spec.taskId)},"attemptBase":${spec.attemptBase},"queue":${quoteQueue(spec.queue)}` +
    `,"priority":${spec.priority},"inputHash":${quote(spec.inputHash)}` +
    `,"idempotencyKey":${orJobId(spec.idempotencyKey)}` +
    textField('idempotencyScope', spec.idempotencyScope) +
    `,"traceId":${quote(spec.traceId)}` +
    textField('traceparent', spec.traceparent) +
    `,"scheduleType":"${spec.scheduleType}","scheduledAt":${spec.scheduledAt}` +
    field('deadlineAt', spec.deadlineAt) +
    field('timeoutMs', spec.timeoutMs) +
    field('stepTimeoutMs', spec.stepTimeoutMs) +
    `,"retry":{"maxRetries":${retry.maxRetries},"baseMs":${retry.baseMs},"maxBackoffMs":${retry.maxBackoffMs}` +
    `,"jitterMs":${retry.jitterMs}},"recovery":"${spec.recovery}","maxRecoveries":${spec.maxRecoveries}` +
    objectField('signals', spec.signals) +
    textField('concurrencyKey', spec.concurrencyKey) +
    objectField('parent', spec.parent) +
    objectField('firedBy', spec.firedBy) +
    textField('requeuedFrom', spec.requeuedFrom) +
    '}'
  );
}

const field = (name: string, value: number | null): string => (value === null ? '' : `,"${name}":${value}`);

const textField = (name: string, value: string | null): string =>
  value === null ? '' : `,"${name}":${quote(value)}`;

const objectField = (name: string, value: object | null): string =>
  value === null ? '' : `,"${name}":${JSON.stringify(value)}`;
