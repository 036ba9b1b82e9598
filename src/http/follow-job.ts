import type { Engine } from '../engine/engine.js';
import { readLog } from '../engine/read-log.js';
import { changesOf, type Change } from '../kernel/index.js';
import { commitMessages, messageOf, type Vocabulary } from './commit-messages.js';
import type { Outlet } from './event-stream.js';
import type { FeedHub } from './feed-hub.js';
import type { FeedItem } from './feed-reader.js';
import { MOST_BEHIND, News } from './news.js';

/** Sends the life of a job behind a revision, until it ends. Its log is read once, and again only if news were missed. */
export async function followJob(
  { engine, feed }: { readonly engine: Engine; readonly feed: FeedHub },
  {
    jobId,
    from,
    vocabulary,
  }: { readonly jobId: string; readonly from: number; readonly vocabulary: Vocabulary },
  outlet: Outlet,
): Promise<void> {
  const { gone } = outlet;
  let sent = from;
  /** True once it has ended. */
  const send = (changes: readonly Change[]): boolean => {
    const last = changes.at(-1);
    if (last === undefined) return false;
    if (last.rev > sent) outlet.send(commitMessages(changes, { vocabulary, id: `${last.rev}` }));
    sent = Math.max(sent, last.rev);
    if (last.after.finishedAt === null) return false;
    outlet.send(messageOf({ event: 'end', data: { status: last.after.status } }, `${sent}`));
    return true;
  };
  const readAll = async (): Promise<boolean> => {
    const commits = byRev(changesOf(await readLog(engine.store, jobId)));
    // It was purged.
    if (commits.length === 0) return true;
    for (const changes of commits) {
      if (send(changes)) return true;
      await outlet.hasRoom();
      if (gone.aborted) return true;
    }
    return false;
  };

  const news = new News<FeedItem>();
  const stop = await feed.listen((items) => {
    const waiting = news.bring(items.filter((item) => item.jobId === jobId));
    if (waiting > MOST_BEHIND) outlet.cut();
  });
  try {
    if (await readAll()) return;
    while (!gone.aborted) {
      for (const { rev, changes } of await news.take(gone)) {
        const isOver = rev > sent + 1 ? await readAll() : send(changes);
        if (isOver) return;
      }
    }
  } finally {
    await stop();
  }
}

function byRev(changes: readonly Change[]): Change[][] {
  const commits: Change[][] = [];
  for (const change of changes) {
    const last = commits.at(-1);
    if (last?.[0]?.rev === change.rev) last.push(change);
    else commits.push([change]);
  }
  return commits;
}
