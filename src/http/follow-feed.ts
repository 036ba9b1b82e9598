import type { FeedPosition } from '../ports/store.js';
import { commitMessages, positionOnly, type Vocabulary } from './commit-messages.js';
import type { Outlet } from './event-stream.js';
import type { FeedHub } from './feed-hub.js';
import type { FeedItem, FeedPage, FeedReader } from './feed-reader.js';
import { MOST_BEHIND, News } from './news.js';

export type Following = {
  readonly reader: FeedReader;
  /** Read before the stream begins, so that a bad position is an error and not a stream that breaks off. */
  readonly first: FeedPage;
  /** Where that begins. */
  readonly from: FeedPosition;
  readonly wanted: (item: FeedItem) => boolean;
  readonly vocabulary: Vocabulary;
};

/**
 * Sends what a reader has missed, then what happens. What is long past is read before anyone listens, so that nothing piles
 * up meanwhile; the rest is read after listening has begun, so that nothing falls between.
 */
export async function followFeed(
  feed: FeedHub,
  { reader, first, from, wanted, vocabulary }: Following,
  outlet: Outlet,
): Promise<void> {
  const { gone } = outlet;
  let page = first;
  let seen = new Set<string>();
  const send = (item: FeedItem): void => {
    outlet.send(commitMessages(item.changes, { vocabulary, id: item.position }));
  };
  const sendPage = async (): Promise<void> => {
    for (const item of page.items.filter(wanted)) {
      seen.add(nameOf(item));
      send(item);
      await outlet.hasRoom();
      if (gone.aborted) return;
    }
  };

  outlet.send(positionOnly(from));
  for (;;) {
    await sendPage();
    if (gone.aborted) return;
    if (page.isLast) break;
    seen = new Set();
    page = await reader.read(page.next);
  }
  const news = new News<FeedItem>();
  const stop = await feed.listen((items) => {
    if (news.bring(items.filter(wanted)) > MOST_BEHIND) outlet.cut();
  });
  try {
    do {
      page = await reader.read(page.next);
      await sendPage();
    } while (!page.isLast && !gone.aborted);
    reader.forget();
    while (!gone.aborted) {
      const items = await news.take(gone);
      const fresh = items.filter((item) => !seen.has(nameOf(item)));
      // The hub has caught up with what was read here.
      if (fresh.length === items.length) seen.clear();
      fresh.forEach(send);
    }
  } finally {
    await stop();
  }
}

const nameOf = ({ jobId, rev }: FeedItem): string => `${jobId}/${rev}`;
