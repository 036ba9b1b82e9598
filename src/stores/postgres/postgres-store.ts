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
  const { single } = session;
  const commitOne = groupCommit<CommitItem, CommitReply>((items) => saveGroup(session, items), {
    most: MOST_IN_GROUP,
  });

  return {
    async commit(items) {
      const replies = await Promise.all(items.map(commitOne));
      return { now: await single.now(), replies };
    },
    claim: (request) => session.transaction((db) => claim(db, request)),
    beat: (beating) => session.transaction((db) => beat(db, beating)),
    orphans: (page) => session.transaction((db) => orphans(db, page)),
    putEffect: (result) => putEffect(single, result),
    putMessage: (message) => session.transaction((db) => putMessage(db, message)),
    effects: (jobId) => effects(single, jobId),
    inbox: (jobId) => inbox(single, jobId),
    async load(jobId) {
      const [found = null] = await loadAll(single, [jobId]);
      return { now: await single.now(), found };
    },
    resolve: async (wanted) => ({ now: await single.now(), jobIds: await ownersOf(single, wanted) }),
    log: (jobId, page) => log(single, jobId, page),
    due: (page) => due(single, page),
    list: (filter) => list(single, filter),
    counts: (filter) => counts(single, filter),
    feed: (page) => feed(single, page),
    dlq: (filter) => dlq(single, filter),
    close: () => session.close(),
  };
}
