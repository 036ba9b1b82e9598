import { PawlError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { CommitItem, CommitReply, Store } from '../../ports/store.js';
import { groupCommit } from '../group-commit.js';
import { claim } from './claim.js';
import { ownerOf, save } from './commit.js';
import { openDatabase } from './driver.js';
import { beat, orphans } from './leases.js';
import { load } from './load.js';
import { effects, inbox, putEffect, putMessage } from './mailbox.js';
import { migrate } from './migrate.js';
import { counts, dlq, due, feed, list, log } from './reads.js';
import { Session } from './session.js';

/** Commits in one transaction: more stall the event loop for longer, fewer sync the disk more often. */
const MOST_IN_GROUP = 500;

/** One file, which several processes may open. Everything that is acknowledged has been synced to disk. */
export async function sqliteStore({ path, clock }: { path: string; clock: Clock }): Promise<Store> {
  const db = new Session(await open(path), clock);
  const commitOne = groupCommit<CommitItem, CommitReply>(
    (items) => db.write(() => items.map((item) => save(db, item))),
    { most: MOST_IN_GROUP },
  );

  return {
    async commit(items) {
      const replies = await Promise.all(items.map(commitOne));
      return { now: db.now(), replies };
    },
    claim: (request) => db.write(() => claim(db, request)),
    beat: (beating) => db.write(() => beat(db, beating)),
    orphans: (page) => db.write(() => orphans(db, page)),
    putEffect: (result) => db.write(() => putEffect(db, result)),
    putMessage: (message) => db.write(() => putMessage(db, message)),
    effects: async (jobId) => effects(db, jobId),
    inbox: async (jobId) => inbox(db, jobId),
    load: async (jobId) => ({ now: db.now(), found: load(db, jobId) }),
    resolve: async (wanted) => ({ now: db.now(), jobIds: wanted.map((identity) => ownerOf(db, identity)) }),
    log: async (jobId, page) => log(db, jobId, page),
    due: async (page) => due(db, page),
    list: async (filter) => list(db, filter),
    counts: async (filter) => counts(db, filter),
    feed: async (page) => feed(db, page),
    dlq: async (filter) => dlq(db, filter),
    close: () => db.close(),
  };
}

async function open(path: string): Promise<Awaited<ReturnType<typeof openDatabase>>> {
  try {
    const db = await openDatabase(path);
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    migrate(db);
    // From here on a locked database is waited for without blocking the event loop.
    db.exec('PRAGMA busy_timeout = 0');
    return db;
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw new PawlError('STORE_UNAVAILABLE', {
      detail: `cannot open ${path}: ${String(error)}`,
      cause: error,
    });
  }
}
