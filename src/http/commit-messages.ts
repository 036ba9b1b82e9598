import { logEvent, type ContractName } from '../contracts/index.js';
import { payloadsOf } from '../engine/callbacks/payloads.js';
import type { Change } from '../kernel/index.js';
import type { Message } from './event-stream.js';

/** In whose words a stream speaks: the engine's own, or a contract's. */
export type Vocabulary = ContractName | 'engine';

const EVENT_NAMES: Readonly<Record<ContractName, string>> = {
  'task-runs': 'run.status.changed',
  jobs: 'job.status.changed',
  guarantees: 'job.event',
  'run-state': 'run.status',
  tasks: 'task_state_changed',
};

/** Many readers hear of the same commit in the same words: it is written out once. */
const written = new WeakMap<readonly Change[], Map<Vocabulary, readonly Message[]>>();

/** What a commit is to the readers of a stream. Only its last message carries an id: half a commit is read again. */
export function commitMessages(
  changes: readonly Change[],
  { vocabulary, id }: { readonly vocabulary: Vocabulary; readonly id: string },
): readonly Message[] {
  const known = written.get(changes) ?? new Map<Vocabulary, readonly Message[]>();
  written.set(changes, known);
  const messages = known.get(vocabulary) ?? messagesOf(changes, vocabulary);
  known.set(vocabulary, messages);
  return messages.map((message, index) => (index === messages.length - 1 ? { ...message, id } : message));
}

function messagesOf(changes: readonly Change[], vocabulary: Vocabulary): readonly Message[] {
  if (vocabulary === 'engine') {
    return changes.map((change) => ({ event: change.event.type, data: JSON.stringify(logEvent(change)) }));
  }
  const rev = changes[0]?.rev ?? 0;
  return payloadsOf(vocabulary, changes, rev).map((payload) => ({
    event: EVENT_NAMES[vocabulary],
    data: JSON.stringify(payload),
  }));
}
