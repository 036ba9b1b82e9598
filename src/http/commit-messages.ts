import { logEvent, type ContractName } from '../contracts/index.js';
import { payloadsOf } from '../engine/callbacks/payloads.js';
import type { Change } from '../kernel/index.js';

/** In whose words a stream speaks: the engine's own, or a contract's. */
export type Vocabulary = ContractName | 'engine';

type Message = { readonly event: string; readonly data: unknown };

const EVENT_NAMES: Readonly<Record<ContractName, string>> = {
  'task-runs': 'run.status.changed',
  jobs: 'job.status.changed',
  guarantees: 'job.event',
  'run-state': 'run.status',
  tasks: 'task_state_changed',
};

const encoder = new TextEncoder();

/** Many readers hear of the same commit in the same words: it is written out once. */
const written = new WeakMap<readonly Change[], Map<string, Uint8Array>>();

/**
 * What a commit is to the readers of a stream, as server-sent events. Only its last message carries an id, and all of
 * them are sent at once: nobody goes on from the middle of a commit.
 */
export function commitMessages(
  changes: readonly Change[],
  { vocabulary, id }: { readonly vocabulary: Vocabulary; readonly id: string },
): Uint8Array {
  const known = written.get(changes) ?? new Map<string, Uint8Array>();
  written.set(changes, known);
  const name = `${vocabulary} ${id}`;
  const text = known.get(name) ?? encoder.encode(format(messagesOf(changes, vocabulary), id));
  known.set(name, text);
  return text;
}

/** One message, apart from any commit. */
export function messageOf(message: Message, id: string): Uint8Array {
  return encoder.encode(format([message], id));
}

/** Where a reader goes on that has heard nothing yet. */
export function positionOnly(id: string): Uint8Array {
  return encoder.encode(`id: ${id}\n\n`);
}

/** JSON has no line breaks, so that one data line is enough. */
function format(messages: readonly Message[], id: string): string {
  const last = messages.length - 1;
  return messages
    .map(({ event, data }, index) => {
      const position = index === last ? `id: ${id}\n` : '';
      return `${position}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}

function messagesOf(changes: readonly Change[], vocabulary: Vocabulary): readonly Message[] {
  if (vocabulary === 'engine') {
    return changes.map((change) => ({ event: change.event.type, data: logEvent(change) }));
  }
  const rev = changes[0]?.rev ?? 0;
  const event = EVENT_NAMES[vocabulary];
  return payloadsOf(vocabulary, changes, rev).map((data) => ({ event, data }));
}
