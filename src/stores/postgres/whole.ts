import pg from 'pg';
import type { Connections } from './connections.js';
import { isSilence } from './server-error.js';
import { gather } from './statement.js';

export type Asked = { readonly sql: string; readonly values: readonly unknown[] };

/** How a connection is spoken to. */
export type Wire = {
  readonly ask: (client: pg.PoolClient, asked: Asked) => Promise<unknown[]>;
  /** What has no values, such as COMMIT. */
  readonly say: (client: pg.PoolClient, text: string) => Promise<void>;
};

/**
 * A statement as a transaction of its own, which is durable when the server answers. On connections for keys it needs their
 * settings: where these end with the transaction, it is enclosed in one.
 */
export async function whole(wire: Wire, connections: Connections, asked: Asked): Promise<unknown[]> {
  const connecting = connections.connect();
  const client = connecting instanceof Promise ? await connecting : connecting;
  if (connections.needsSettings(client)) return enclosed(wire, connections, client, asked);
  let broken = true;
  try {
    const rows = await wire.ask(client, asked);
    broken = false;
    return rows;
  } catch (error) {
    broken = breaks(error);
    throw error;
  } finally {
    connections.release(client, broken);
  }
}

/** A hint that others are given of what a statement has saved; and what to do if it got lost on the way. */
export type Notice = { readonly asked: Asked; readonly lost: () => void };

/**
 * The same with a notice right behind it, which nobody waits for: the connection is free once both are answered. Where a
 * transaction has to enclose the statement, the notice goes by itself.
 */
export async function followed(
  wire: Wire,
  connections: Connections,
  asked: Asked,
  notice: Notice,
): Promise<unknown[]> {
  const client = await connections.connect();
  if (connections.needsSettings(client)) {
    const rows = await enclosed(wire, connections, client, asked);
    whole(wire, connections, notice.asked).catch(notice.lost);
    return rows;
  }
  gather(client);
  const answer = wire.ask(client, asked);
  wire.ask(client, notice.asked).then(
    () => connections.release(client, false),
    (error: unknown) => {
      connections.release(client, breaks(error));
      notice.lost();
    },
  );
  return answer;
}

/** The connection that a statement failed on cannot be used any more. */
const breaks = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError && error.severity === 'ERROR');

/** All of it travels together: if the statement fails, the server takes the COMMIT behind it for a rollback. */
async function enclosed(
  { ask, say }: Wire,
  connections: Connections,
  client: pg.PoolClient,
  asked: Asked,
): Promise<unknown[]> {
  const [begun, rows, ended] = await Promise.allSettled([
    say(client, connections.beginOf(client)),
    ask(client, asked),
    say(client, 'COMMIT'),
  ]);
  connections.release(client, ended.status === 'rejected');
  const failed = [begun, rows, ended].flatMap((one) =>
    one.status === 'rejected' ? [one.reason as unknown] : [],
  );
  // Of a silent network any of them may be the first to tell; to the others their connection has broken.
  if (failed.some(isSilence)) throw failed.find(isSilence);
  if (rows.status === 'rejected') throw rows.reason;
  if (ended.status === 'rejected') throw ended.reason;
  return rows.value;
}
