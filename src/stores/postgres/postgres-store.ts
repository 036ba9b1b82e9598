import type { CommitItem, CommitReply, Store } from '../../ports/store.js';
import { groupCommit } from '../group-commit.js';
import { claim } from './claim.js';
import { ownersOf, saveGroup } from './commit.js';
import { beat, orphans } from './leases.js';
import { loadAll } from './load.js';
import { effects, inbox, putEffect, putMessage } from './mailbox.js';
import { migrate } from './migrate.js';
import { counts, dlq, due, feed, list, log } from './reads.js';
import { Session } from './session.js';

/** Commits in one transaction. More make single ones wait longer, fewer send more statements. */
const MOST_IN_GROUP = 1_000;

/** A Postgres database, shared by any number of processes and machines. Its clock is the one that counts. */
export async function postgresStore({ url, now }: { url: string; now?: () => number }): Promise<Store> {
  const session = new Session({ url, now });
  try {
    await migrate(session);
  } catch (error) {
    await session.close();
    throw error;
  }
  const { reads } = session;
  const commitOne = groupCommit<CommitItem, CommitReply>((items) => saveGroup(session, items), {
    most: MOST_IN_GROUP,
  });

  return {
    async commit(items) {
      const replies = await Promise.all(items.map(commitOne));
      return { now: await reads.now(), replies };
    },
    claim: (request) => session.transaction((db) => claim(db, request)),
    beat: (beating) => session.transaction((db) => beat(db, beating)),
    orphans: (page) => session.transaction((db) => orphans(db, page)),
    putEffect: (result) => putEffect(reads, result),
    putMessage: (message) => session.transaction((db) => putMessage(db, message)),
    effects: (jobId) => effects(reads, jobId),
    inbox: (jobId) => inbox(reads, jobId),
    async load(jobId) {
      const [found = null] = await loadAll(reads, [jobId]);
      return { now: await reads.now(), found };
    },
    resolve: async (wanted) => ({ now: await reads.now(), jobIds: await ownersOf(reads, wanted) }),
    log: (jobId, page) => log(reads, jobId, page),
    due: (page) => due(reads, page),
    list: (filter) => list(reads, filter),
    counts: (filter) => counts(reads, filter),
    feed: (page) => feed(reads, page),
    dlq: (filter) => dlq(reads, filter),
    close: () => session.close(),
  };
}
