import type { CommitItem, CommitReply, StatementList, StoreTransaction } from '../../ports/store.js';
import { saveWithin } from './commit.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** Takes down what the application wants to write, and runs all of it together with the commit. */
export function begin(db: Session): StoreTransaction {
  const statements: { readonly sql: string; readonly values: readonly SqlValue[] }[] = [];
  const tx: StatementList = {
    run(sql, ...values) {
      statements.push({ sql, values });
    },
  };
  return {
    tx,
    async commit(item) {
      const reply = await db.write(() => commit(db, statements.splice(0), item)).catch(refusalOf);
      return { now: db.now(), reply };
    },
    async rollback() {
      statements.length = 0;
    },
  };
}

/** Thrown to undo the application's writes. */
class Refused extends Error {
  readonly reply: CommitReply;
  constructor(reply: CommitReply) {
    super('the commit was refused');
    this.reply = reply;
  }
}

function commit(
  db: Session,
  statements: readonly { readonly sql: string; readonly values: readonly SqlValue[] }[],
  item: CommitItem,
): CommitReply {
  for (const { sql, values } of statements) db.run(sql, ...values);
  const reply = saveWithin(db, item);
  if (!reply.ok) throw new Refused(reply);
  return reply;
}

function refusalOf(error: unknown): CommitReply {
  if (error instanceof Refused) return error.reply;
  throw error;
}
