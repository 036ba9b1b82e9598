import pg from 'pg';
import { transactionOver } from '../transaction-over.js';

/** What a client that was lent is spoken to by, for as long as what has begun on it may go on. */
const lasting = new WeakMap<object, pg.ClientBase>();

/** For the rest of something that has begun on a client, wherever that comes from. */
export const lastingOf = (client: pg.ClientBase): pg.ClientBase => lasting.get(client) ?? client;

export type Term = {
  readonly isOver: () => boolean;
  /** What a start has begun must not be left half done, although the body that it belongs to is over. Not even that goes on now. */
  readonly isGone: () => boolean;
};

/**
 * A client as the application gets it: the connection's own, but for what must not outlive the transaction. Once that is
 * over a statement fails here and is not sent, for the connection may be within another transaction by then, or in none.
 * The connection stays the store's: giving it back, or ending it, does nothing.
 */
export function lend(client: pg.PoolClient, { isOver, isGone }: Term): pg.ClientBase {
  const lent = until(client, isOver);
  lasting.set(lent, until(client, isGone));
  return lent;
}

function until(client: pg.PoolClient, isOver: () => boolean): pg.ClientBase {
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

/**
 * Whether a cursor or a stream is under way, which ends when whoever opened it says so. Until then nothing that is sent behind it
 * is answered. The driver's types keep what it knows of that to themselves.
 */
export function hasOpenStream(client: pg.ClientBase): boolean {
  const { _activeQuery: active, _queryQueue: queue } = client as unknown as {
    readonly _activeQuery: unknown;
    readonly _queryQueue: readonly unknown[];
  };
  return [active, ...queue].some((query) => isSubmittable(query) && !(query instanceof pg.Query));
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
