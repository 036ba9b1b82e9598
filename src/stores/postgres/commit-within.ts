import type pg from 'pg';
import { PawlError } from '../../errors.js';
import type { CommitItem, CommitReply, CommitWithin, Loaded } from '../../ports/store.js';
import { isCreated, listCreated, saveOne } from './commit-carefully.js';
import { lastingOf } from './lent-client.js';
import { loadEach } from './load.js';
import { busy, isRefused, LOCK_TIMEOUT_MS } from './lock-waits.js';
import { sqlStateOf } from './server-error.js';
import type { Queries, Session } from './session.js';
import { inTurn } from './start-queue.js';

/** What the server says of a transaction in which nothing can be saved; and we. */
const NOT_USABLE: Readonly<Record<string, string>> = {
  '25P01': 'the client that was given as `tx` has no open transaction',
  '25P02': 'a statement of the transaction that was given as `tx` has failed, which undoes all of it',
  '3B001':
    'the transaction that was given as `tx` was ended, or undone in part, while a job was being started in it',
};

/**
 * Saves commits on a connection of the application, within its open transaction. What is refused leaves the transaction
 * as it was, and so does a failure, which undoes all of them; what is saved becomes visible with its COMMIT.
 */
export async function commitWithin(
  session: Session,
  tx: unknown,
  items: readonly CommitItem[],
): Promise<CommitWithin> {
  if (!isClient(tx)) {
    throw new PawlError('TX_UNSUPPORTED', { detail: 'what was given as `tx` is not a `pg` client' });
  }
  try {
    return await inTurn(tx, () => startWithin(session, tx, items));
  } catch (error) {
    const detail = NOT_USABLE[sqlStateOf(error)];
    if (detail !== undefined) throw new PawlError('TX_UNSUPPORTED', { detail, cause: error });
    throw error;
  }
}

/** Once it has begun it comes to its end, even if the body that has asked for it does not wait for that. */
async function startWithin(
  session: Session,
  tx: pg.ClientBase,
  items: readonly CommitItem[],
): Promise<CommitWithin> {
  await session.within(tx).rows('SAVEPOINT pawl_start');
  const db = session.within(lastingOf(tx));
  try {
    const replies = await patiently(db, () => saveAll(db, items));
    const owners = await ownersIn(db, replies);
    const now = await db.now();
    await db.rows('RELEASE SAVEPOINT pawl_start');
    return { now, replies, owners };
  } catch (error) {
    await takeBack(db);
    throw error;
  }
}

/** Waits no longer for somebody else's lock than a start does; then what the application had set counts again. */
async function patiently<T>(db: Queries, work: () => Promise<T>): Promise<T> {
  const [before] = await db.rows<{ lock_timeout: string }>(
    "SELECT current_setting('lock_timeout') AS lock_timeout",
  );
  const patience = (value: string) => db.rows("SELECT set_config('lock_timeout', $1, true)", [value]);
  await patience(`${LOCK_TIMEOUT_MS}ms`);
  const done = await work().catch((error: unknown) => {
    throw isRefused(error) ? busy(error, 'one of these jobs, or its key') : error;
  });
  await patience(before?.lock_timeout ?? '0');
  return done;
}

/** With the savepoint goes what was set since. Where this fails, too, there is no transaction left to keep. */
async function takeBack(db: Queries): Promise<void> {
  try {
    await db.rows('ROLLBACK TO SAVEPOINT pawl_start');
    await db.rows('RELEASE SAVEPOINT pawl_start');
  } catch {
    // What went wrong first is thrown.
  }
}

/** So many new jobs are listed by one row. */
const MOST_LISTED = 1_000;

/** One by one, and listed together. */
async function saveAll(db: Queries, items: readonly CommitItem[]): Promise<CommitReply[]> {
  const replies: CommitReply[] = [];
  const created: CommitItem[] = [];
  const list = async (): Promise<void> => {
    if (created.length > 0) await listCreated(db, created.splice(0));
  };
  for (const item of items) {
    const reply = await saveOne(db, item, { lists: false });
    replies.push(reply);
    if (isCreated(item, reply)) created.push(item);
    if (created.length === MOST_LISTED) await list();
  }
  await list();
  return replies;
}

async function ownersIn(db: Queries, replies: readonly CommitReply[]): Promise<Loaded[]> {
  const jobIds = replies.flatMap((reply) =>
    !reply.ok && reply.code === 'IDENTITY_TAKEN' ? reply.owners.filter((owner) => owner !== null) : [],
  );
  if (jobIds.length === 0) return [];
  const loading = await loadEach(db, [...new Set(jobIds)]);
  const found = await Promise.all(loading.map(async (answer) => (await answer).found));
  return found.filter((one) => one !== null);
}

function isClient(tx: unknown): tx is pg.ClientBase {
  return typeof tx === 'object' && tx !== null && 'query' in tx && typeof tx.query === 'function';
}
