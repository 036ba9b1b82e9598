import { PawlError } from '../../errors.js';
import type { CommitItem, CommitReply, Reply, StatementList, StoreTransaction } from '../../ports/store.js';
import { transactionOver } from '../transaction-over.js';
import { saveWithin } from './commit.js';
import type { SqlValue } from './driver.js';
import { hasMoreThanOneStatement } from './more-than-one-statement.js';
import type { Session } from './session.js';

type Noted = { readonly sql: string; readonly values: readonly SqlValue[] };
type Saved = Reply<{ readonly reply: CommitReply }>;

/** Takes down what the application wants to write, and runs all of it together with the commit. */
export function begin(db: Session): StoreTransaction {
  return new Transaction(db);
}

/** It ends once: a rollback that comes after a commit has begun waits until it is known what became of that. */
class Transaction implements StoreTransaction {
  readonly tx: StatementList;
  readonly #db: Session;
  readonly #statements: Noted[] = [];
  #state: 'open' | 'ending' | 'ended' = 'open';
  /** Settled with the end, however it came to that. */
  #end: Promise<void> = Promise.resolve();

  constructor(db: Session) {
    this.#db = db;
    this.tx = {
      run: (sql, ...values) => {
        if (this.#state !== 'open') throw transactionOver();
        if (hasMoreThanOneStatement(sql)) throw severalStatements();
        this.#statements.push({ sql, values });
      },
    };
  }

  commit(item: CommitItem): Promise<Saved> {
    if (this.#state !== 'open') return Promise.reject(transactionOver());
    this.#state = 'ending';
    const saving = this.#save(item);
    const end = (): void => void (this.#state = 'ended');
    this.#end = saving.then(end, end);
    return saving;
  }

  rollback(): Promise<void> {
    if (this.#state === 'open') this.#state = 'ended';
    return this.#end;
  }

  async #save(item: CommitItem): Promise<Saved> {
    const reply = await this.#db
      .write(() => commit(this.#db, this.#statements, item))
      .catch((error: unknown) => {
        if (error instanceof Refused) return error.reply;
        throw blamed(error);
      });
    return { now: this.#db.now(), reply };
  }
}

/** SQLite runs the first of them and leaves out the rest, and could not tell whose the values are. */
function severalStatements(): PawlError {
  return new PawlError('INVALID_OPTION', {
    detail: 'tx.run takes one statement at a time, and was given several: call it once for each',
    details: { option: 'sql' },
  });
}

/** Thrown to undo the application's writes. */
class Refused extends Error {
  readonly reply: CommitReply;
  constructor(reply: CommitReply) {
    super('the commit was refused');
    this.reply = reply;
  }
}

/** Released, the savepoint shows that the application has not ended the transaction, outside of which nothing may be saved. */
function commit(db: Session, statements: readonly Noted[], item: CommitItem): CommitReply {
  db.run('SAVEPOINT pawl_application');
  for (const { sql, values } of statements) db.run(sql, ...values);
  db.run('RELEASE pawl_application');
  const reply = saveWithin(db, item);
  if (!reply.ok) throw new Refused(reply);
  return reply;
}

/**
 * The codes of SQLite that say something of a statement: it is wrong, in the way of another, breaks a constraint, or was
 * given what does not fit. All others say something of the file, the disk, or who else is at it.
 */
const OF_STATEMENTS: ReadonlySet<number> = new Set([1, 4, 6, 17, 18, 19, 20, 21, 23, 25]);

/**
 * What the application's own statements have led to stays what SQLite said. Only what says something of the store becomes
 * an error of the store: nobody counts how often that is met.
 */
function blamed(error: unknown): unknown {
  const cause = error instanceof PawlError ? error.cause : null;
  if (!(cause instanceof Error) || !('errcode' in cause)) return error;
  return OF_STATEMENTS.has(Number(cause.errcode) & 0xff) ? cause : error;
}
