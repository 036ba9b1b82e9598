import type { CommandType } from '../../src/kernel/index.js';
import type { CommitItem, Store } from '../../src/ports/store.js';

/** What a remote worker, or a remote application, does through the server. Everything else stands beside the store. */
const REMOTE = new Set<keyof Store>([
  'commit',
  'claim',
  'beat',
  'workers',
  'putEffect',
  'effects',
  'putMessage',
  'inbox',
  'load',
  'log',
  'wake',
  'listen',
  'close',
]);

/**
 * Jobs of the cases are created beside the store, since many of them share one key, which no server would let pass. So are
 * two commands given that a remote worker must not give: an interruption because a lease ran out, which is the recovery's, and
 * the end of a wait for which there is no message.
 */
const BESIDE = new Set<CommandType>(['create']);

/**
 * A store for the conformance kit: what a remote worker does goes through the server, and only what it must not be able to
 * do goes to the server's own store. `sent` counts what went through, so that a case cannot pass by going around.
 */
export function throughServer(remote: Store, own: Store): { store: Store; sent: Map<string, number> } {
  const sent = new Map<string, number>();
  const count = (name: string) => sent.set(name, (sent.get(name) ?? 0) + 1);
  const isBeside = ({ commands = [] }: CommitItem): boolean =>
    commands.some(
      (command) =>
        BESIDE.has(command.type) ||
        (command.type === 'interrupt' && command.cause.reason !== 'drained') ||
        (command.type === 'complete-wait' && !command.actor.startsWith('client')),
    );
  const store = new Proxy(own, {
    get: (_, name: keyof Store) => {
      if (!REMOTE.has(name)) return own[name];
      if (name !== 'commit') {
        count(name);
        return remote[name];
      }
      return (items: readonly CommitItem[]) => {
        if (items.some(isBeside)) return own.commit(items);
        count('commit');
        return remote.commit(items);
      };
    },
  });
  return { store, sent };
}
