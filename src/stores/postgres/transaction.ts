import pg from 'pg';
import { PawlError } from '../../errors.js';
import type { CommitItem, CommitReply, Reply, StoreTransaction } from '../../ports/store.js';
import { transactionOver } from '../transaction-over.js';
import { saveOne } from './commit-carefully.js';
import { hasOpenStream, lend } from './lent-client.js';
import { codeOf } from './server-error.js';
import type { Session } from './session.js';
import { startsOn } from './start-queue.js';
import { listening } from './statement.js';

/** A worker that froze in the middle must not keep others from the job for longer than this. */
const IDLE_TIMEOUT = '30s';
/** Whatever the database's default is: a fence must see what was saved before it got its lock. */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '${IDLE_TIMEOUT}'`;

/** A transaction on a connection of the store, which the application writes with. */
export async function begin(session: Session): Promise<StoreTransaction> {
  const client = await session.connect();
  try {
    await session.told(session.say(client, BEGIN));
  } catch (error) {
    session.release(client, true);
    throw error;
  }
  return new Transaction(session, client);
}

type Saved = Reply<{ readonly reply: CommitReply }>;

/**
 * It ends once. Whoever comes first, a commit or a rollback, decides how; what the application still sends from then on is
 * refused, and a rollback that comes second waits until it is known what became of the commit.
 */
class Transaction implements StoreTransaction {
  readonly tx: pg.ClientBase;
  readonly #session: Session;
  readonly #client: pg.PoolClient;
  /** `closing`: a start that has begun in it is brought to its end, and nothing else. */
  #state: 'open' | 'closing' | 'ending' | 'ended' = 'open';
  /** Settled with the end, however it came to that. */
  #end: Promise<void> = Promise.resolve();
  /** What the connection broke with. */
  #broken: unknown = null;

  constructor(session: Session, client: pg.PoolClient) {
    this.#session = session;
    this.#client = client;
    this.tx = lend(client, {
      isOver: () => this.#state !== 'open',
      isGone: () => this.#state === 'ending' || this.#state === 'ended',
    });
    client.on('error', this.#breaks);
  }

  commit(item: CommitItem): Promise<Saved> {
    if (this.#state !== 'open') return Promise.reject(transactionOver());
    return this.#endBy(this.#save(item));
  }

  /** Its connection is not used again: the body that it was lent to may still be at it. */
  rollback(): Promise<void> {
    if (this.#state === 'open') void this.#endBy(this.#undo({ reuse: false }));
    return this.#end;
  }

  #endBy<T>(ending: Promise<T>): Promise<T> {
    const end = (): void => void (this.#state = 'ended');
    this.#end = ending.then(end, end);
    return ending;
  }

  /** After a start that the body did not wait for: half of one would be committed with the step. */
  async #save(item: CommitItem): Promise<Saved> {
    this.#state = 'closing';
    // Behind a stream that is open they would never end.
    if (!hasOpenStream(this.#client)) await listening(this.#client, startsOn(this.tx));
    this.#state = 'ending';
    try {
      if (hasOpenStream(this.#client)) throw new Error(STREAM_OPEN);
      const db = this.#session.own(this.#client);
      const reply = await saveOne(db, item);
      const now = await db.now();
      await this.#session.told(this.#session.say(this.#client, reply.ok ? 'COMMIT' : 'ROLLBACK'));
      void this.#giveBack();
      return { now, reply };
    } catch (error) {
      await this.#undo({ reuse: true });
      throw this.#blamed(error);
    }
  }

  /** Without its connection the server undoes it as well, if what is open there would keep it from hearing of a rollback. */
  async #undo({ reuse }: { reuse: boolean }): Promise<void> {
    this.#state = 'ending';
    if (hasOpenStream(this.#client)) {
      this.#release({ reuse: false });
      return;
    }
    const undone = await this.#session.say(this.#client, 'ROLLBACK').then(
      () => true,
      () => false,
    );
    if (reuse && undone) void this.#giveBack();
    else this.#release({ reuse: false });
  }

  /** As the next body expects it: this one may have set something for the session, which may be another job's or tenant's by then. */
  async #giveBack(): Promise<void> {
    const isAsNew = await this.#session.say(this.#client, AS_NEW).then(
      () => true,
      () => false,
    );
    this.#release({ reuse: isAsNew });
  }

  #release({ reuse }: { reuse: boolean }): void {
    this.#client.off('error', this.#breaks);
    this.#session.release(this.#client, !reuse);
  }

  readonly #breaks = (error: unknown): void => {
    this.#broken ??= error;
  };

  /**
   * What the application's own statements have led to stays what the server said. Only what says something of the store
   * becomes an error of the store: nobody counts how often that is met.
   */
  #blamed(error: unknown): unknown {
    const cause = codeOf(this.#broken) === STOOD_STILL ? this.#broken : causeOf(error);
    const code = codeOf(cause);
    if (!(cause instanceof pg.DatabaseError) || OUTAGES.test(code)) return error;
    const detail = IN_OTHER_WORDS[code];
    return detail === undefined ? cause : new Error(detail, { cause });
  }
}

/** All that DISCARD ALL does, but for prepared statements: ours are among them. */
const AS_NEW =
  'RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; UNLISTEN *; CLOSE ALL; SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES';
const STREAM_OPEN = 'a cursor or a stream that the body had opened was still open when it returned';
const STOOD_STILL = '25P03';

/** The connection, the server's resources, its operator, the system below it; and a server that only reads. */
const OUTAGES = /^(08|53|57P|58|25006)/;

const IN_OTHER_WORDS: Readonly<Record<string, string>> = {
  '25P01': 'the transaction had been ended within its body',
  '25P02': 'a statement of the transaction failed, which undoes all of it, although its body went on',
  [STOOD_STILL]: `the server has ended the transaction, which stood still for too long (${IDLE_TIMEOUT})`,
};

function causeOf(error: unknown): unknown {
  return error instanceof PawlError ? error.cause : null;
}
