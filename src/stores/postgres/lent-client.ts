import type pg from 'pg';
import { transactionOver } from '../transaction-over.js';

/**
 * A client as the application gets it: the connection's own, but for what must not outlive the transaction. Once that is
 * over a statement fails here and is not sent, for the connection may be within another transaction by then, or in none.
 * The connection stays the store's: giving it back, or ending it, does nothing.
 */
export function lend(client: pg.PoolClient, { isOver }: { isOver: () => boolean }): pg.ClientBase {
  const send = client.query.bind(client) as (...asked: unknown[]) => unknown;
  const own: Readonly<Record<string | symbol, unknown>> = {
    query: (...asked: unknown[]) => (isOver() ? refuse(asked) : send(...asked)),
    release: () => undefined,
    end: async () => undefined,
  };
  return new Proxy(client, {
    get: (target, name) => (Object.hasOwn(own, name) ? own[name] : (Reflect.get(target, name) as unknown)),
  });
}

/** The driver takes a callback, or an object of its own that is told, or else answers with a promise. */
function refuse(asked: readonly unknown[]): unknown {
  const error = transactionOver();
  const callback = asked.find((one) => typeof one === 'function') as ((error: Error) => void) | undefined;
  if (callback !== undefined) {
    process.nextTick(callback, error);
    return undefined;
  }
  const [first] = asked;
  if (!isSubmittable(first)) return Promise.reject(error);
  process.nextTick(() => first.handleError(error, null));
  return first;
}

type Submittable = { handleError(error: Error, connection: null): void };

function isSubmittable(asked: unknown): asked is Submittable {
  return typeof asked === 'object' && asked !== null && 'submit' in asked && 'handleError' in asked;
}
