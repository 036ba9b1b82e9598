import { anything, number, object, text, type Of } from './api/shape.js';

/** What the log of a job says, put together for people. */

const logEvent = object({
  event_id: text,
  rev: number,
  type: text,
  occurred_at: text,
  actor: text,
  status: text,
  data: anything,
});
type Read = Of<typeof logEvent>;
export type LogEvent = Omit<Read, 'data'> & { readonly data: Readonly<Record<string, unknown>> };

export function readEvent(data: string): LogEvent {
  const event = logEvent(JSON.parse(data), 'event');
  return { ...event, data: record(event.data) };
}

export type Failure = { readonly code: string; readonly message: string; readonly at: string };
export type Wait = {
  readonly key: string;
  readonly kind: string;
  readonly step: string;
  readonly reason: string | null;
  readonly expiresAt: string | null;
  readonly since: string;
  /** Null while it is open. */
  readonly outcome: string | null;
};
export type Effect = {
  readonly name: string;
  readonly step: string;
  readonly occurrence: number;
  readonly entry: number;
  readonly tool: string;
  readonly key: string;
  readonly state: 'entered' | 'recorded' | 'closed' | 'unknown';
  readonly message: string | null;
  readonly enteredAt: string;
  readonly settledAt: string | null;
};
export type Child = { readonly childId: string; readonly task: string; readonly step: string };

/** What it last failed with. */
export function lastFailure(events: readonly LogEvent[]): Failure | null {
  const event = events.findLast(({ type }) => type === 'attempt.failed' || type === 'dlq.entered');
  if (event === undefined) return null;
  const failure = record(event.data['failure']);
  return { code: word(failure['code']), message: word(failure['message']), at: event.occurred_at };
}

export function waitsOf(events: readonly LogEvent[]): Wait[] {
  const waits = new Map<string, Wait>();
  const begin = (value: unknown, since: string): void => {
    const { key, kind, step, reason, expires_at } = record(value);
    waits.set(word(key), {
      key: word(key),
      kind: word(kind),
      step: word(step),
      reason: wordOrNull(reason),
      expiresAt: wordOrNull(expires_at),
      since,
      outcome: null,
    });
  };
  for (const { type, data, occurred_at: at } of events) {
    if (type === 'wait.begun' && Array.isArray(data['waits'])) {
      for (const wait of data['waits'] as readonly unknown[]) begin(wait, at);
    }
    if (type === 'child.started') begin(data['wait'], at);
    if (type === 'wait.completed') {
      const key = word(record(data['wait'])['key']);
      const wait = waits.get(key);
      if (wait) waits.set(key, { ...wait, outcome: word(data['outcome']) });
    }
  }
  return [...waits.values()];
}

const SETTLED: Readonly<Record<string, Effect['state']>> = {
  'effect.recorded': 'recorded',
  'effect.closed': 'closed',
  'effect.unknown': 'unknown',
};
const VERDICTS: Readonly<Record<string, Effect['state']>> = {
  happened: 'recorded',
  notHappened: 'closed',
  cannotTell: 'unknown',
};

/** Every entry of every effect, in the order in which they were entered. */
export function effectsOf(events: readonly LogEvent[]): Effect[] {
  const effects = new Map<string, Effect>();
  for (const { type, data, occurred_at: at } of events) {
    if (!type.startsWith('effect.')) continue;
    const { step, occurrence, entry } = data;
    const id = `${word(step)}#${String(occurrence)}/${String(entry)}`;
    if (type === 'effect.intended') {
      const name = occurrence === 1 ? word(step) : `${word(step)}#${String(occurrence)}`;
      effects.set(id, {
        name,
        step: word(step),
        occurrence: Number(occurrence),
        entry: Number(entry),
        tool: word(data['tool']),
        key: word(data['effect_key']),
        state: 'entered',
        message: null,
        enteredAt: at,
        settledAt: null,
      });
      continue;
    }
    const effect = effects.get(id);
    const state = SETTLED[type] ?? VERDICTS[word(data['verdict'])];
    if (effect === undefined || state === undefined) continue;
    const message = wordOrNull(record(data['failure'])['message']);
    effects.set(id, { ...effect, state, message, settledAt: state === 'unknown' ? null : at });
  }
  return [...effects.values()];
}

export function childrenOf(events: readonly LogEvent[]): Child[] {
  return events
    .filter(({ type }) => type === 'child.started')
    .map(({ data }) => {
      const { child_id: childId, task } = record(data['child']);
      return { childId: word(childId), task: word(task), step: word(record(data['wait'])['step']) };
    });
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function wordOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
