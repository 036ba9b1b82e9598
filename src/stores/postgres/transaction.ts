import type pg from 'pg';
import type { StoreTransaction } from '../../ports/store.js';
import { saveOne } from './commit-carefully.js';
import type { Session } from './session.js';

/** A worker that froze in the middle must not keep others from the job for longer than this. */
const IDLE_TIMEOUT = '30s';

/** A transaction on a connection of the store, which the application writes with. */
export async function begin(session: Session): Promise<StoreTransaction> {
  const client = await session.connect();
  let ended = false;
  const end = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (ended) return;
    ended = true;
    let broken = true;
    try {
      await session.say(client, how);
      broken = false;
    } finally {
      session.release(client, broken);
    }
  };
  try {
    await session.told(
      session.say(client, `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '${IDLE_TIMEOUT}'`),
    );
  } catch (error) {
    session.release(client, true);
    throw error;
  }
  return {
    tx: client satisfies pg.ClientBase,
    async commit(item) {
      const db = session.own(client);
      try {
        const reply = await saveOne(db, item);
        const now = await db.now();
        await session.told(end(reply.ok ? 'COMMIT' : 'ROLLBACK'));
        return { now, reply };
      } catch (error) {
        await end('ROLLBACK').catch(() => undefined);
        throw error;
      }
    },
    rollback: () => end('ROLLBACK').catch(() => undefined),
  };
}
