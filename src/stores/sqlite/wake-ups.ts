import { utimesSync, watch, type FSWatcher } from 'node:fs';
import { holderLane, isHolderLane, type WorkerRef } from '../../kernel/index.js';
import type { StoreClock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { localWakeUps } from '../local-wake-ups.js';
import { nowAndThen } from '../now-and-then.js';
import { leaveNews, newsAfter } from './news.js';
import type { Session } from './session.js';

/** The first commit is told of at once, what follows within this time together: each time costs a call of the system. */
const APART_MS = 5;

/**
 * Wake-ups across processes that have the same file open. Whoever has saved something for others sets the times of the file that
 * SQLite shares its index of the log in, which every process watches for as long as somebody listens: SQLite itself writes to it
 * through memory, so that nothing else is heard of (decision 37). The rows of jobs then show what is ready; word for a
 * worker that runs a job is left in writing. Never relied upon: a file system that tells of no changes costs waiting for the
 * next poll, or heartbeat, nothing else.
 */
export function watchedWakeUps(
  db: Session,
  { path, clock }: { path: string; clock: StoreClock },
): Pick<Store, 'wake' | 'listen'> & {
  /** This worker is one of this process. */
  readonly isHere: (worker: WorkerRef) => void;
  readonly stop: () => void;
} {
  const local = localWakeUps();
  let watcher: FSWatcher | null = null;
  let listeners = 0;
  let version = 0;
  /** The first ready job of each lane, as of the last look. */
  let heads: ReadonlyMap<string, string> = new Map();
  /** How far the news has been read. */
  let read = 0;
  /** Where the workers of this process listen: they need nothing in writing. */
  const here = new Set<string>();
  const shared = `${path}-shm`;
  const tell = nowAndThen(clock, APART_MS, () => touchFile(shared, clock.now()));

  /** Wakes lanes whose first job was not the first before. One that stays there is not for us, or we have no room for it. */
  const look = (): void => {
    try {
      const now = versionOf(db);
      if (now === version) return;
      version = now;
      const before = heads;
      const news = newsAfter(db, read);
      ({ heads, upTo: read } = news);
      const lanes = [...heads].flatMap(([lane, jobId]) => (before.get(lane) === jobId ? [] : [lane]));
      lanes.push(...news.lanes);
      if (lanes.length > 0) local.wake(lanes);
    } catch {
      // A database that cannot be read just now. The next change, or the next poll, finds what there is.
    }
  };

  const stopWatching = (): void => {
    watcher?.close();
    watcher = null;
  };

  return {
    wake(lanes) {
      local.wake(lanes);
      const elsewhere = lanes.filter((lane) => isHolderLane(lane) && !here.has(lane));
      // A hint, like all of these: if it cannot be written, its worker hears of it by a heartbeat.
      if (elsewhere.length > 0) db.write(() => leaveNews(db, elsewhere)).then(tell.soon, () => undefined);
      if (elsewhere.length < lanes.length) tell.soon();
    },
    isHere: (worker) => void here.add(holderLane({ worker })),
    listen(hear) {
      const stopLocal = local.listen(hear);
      listeners += 1;
      if (watcher === null) {
        version = versionOf(db);
        read = newsAfter(db, read).upTo;
        watcher = watchFile(shared, look, stopWatching);
      }
      return async () => {
        await stopLocal();
        listeners -= 1;
        if (listeners === 0) stopWatching();
      };
    },
    stop() {
      tell.flush();
      stopWatching();
    },
  };
}

/** Null where there is nothing to watch, or no way to. */
function watchFile(path: string, onChange: () => void, onLost: () => void): FSWatcher | null {
  try {
    const watcher = watch(path, { persistent: false }, onChange);
    watcher.on('error', onLost);
    return watcher;
  } catch {
    return null;
  }
}

/** Whoever watches it is told, without anything being written. Where that is not allowed they find out by their next poll. */
function touchFile(path: string, now: number): void {
  try {
    utimesSync(path, now / 1_000, now / 1_000);
  } catch {
    // The file is another user's, or gone: this is a hint like all of these.
  }
}

/** Another number whenever another connection has committed. */
function versionOf(db: Session): number {
  return db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
}
