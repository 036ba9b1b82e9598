import { watch, type FSWatcher } from 'node:fs';
import type { Store } from '../../ports/store.js';
import { localWakeUps } from '../local-wake-ups.js';
import type { Session } from './session.js';

/** How many lanes one look goes through. Polling finds what is in others. */
const MOST_LANES = 100;

/**
 * Wake-ups across processes that have the same file open. Whatever is saved is written to the log beside the file, so
 * that is watched, for as long as somebody listens; SQLite's own counter tells another's commit from ours. Never relied upon: a file
 * system that tells of no changes costs waiting for the next poll, nothing else.
 */
export function watchedWakeUps(
  db: Session,
  path: string,
): Pick<Store, 'wake' | 'listen'> & { readonly stop: () => void } {
  const local = localWakeUps();
  let watcher: FSWatcher | null = null;
  let listeners = 0;
  let version = 0;
  let isLooking = false;
  /** The first ready job of each lane, as of the last look. */
  let heads: ReadonlyMap<string, string> = new Map();

  /** Lanes whose first job was not the first before. One that stays there is not for us, or we have no room for it. */
  const look = (): void => {
    try {
      const now = versionOf(db);
      if (now === version) return;
      version = now;
      const before = heads;
      heads = readyHeads(db);
      const lanes = [...heads].flatMap(([lane, jobId]) => (before.get(lane) === jobId ? [] : [lane]));
      if (lanes.length > 0) local.wake(lanes);
    } catch {
      // A database that cannot be read just now. The next change, or the next poll, finds what there is.
    }
  };

  /** Once for all that has changed within this turn of the event loop. */
  const changed = (): void => {
    if (isLooking) return;
    isLooking = true;
    setImmediate(() => {
      isLooking = false;
      if (watcher !== null) look();
    });
  };

  const stop = (): void => {
    watcher?.close();
    watcher = null;
  };

  return {
    wake: local.wake,
    listen(hear) {
      const stopLocal = local.listen(hear);
      listeners += 1;
      if (watcher === null) {
        version = versionOf(db);
        watcher = watchFile(`${path}-wal`, changed, stop);
      }
      return async () => {
        await stopLocal();
        listeners -= 1;
        if (listeners === 0) stop();
      };
    },
    stop,
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

/** Another number whenever another connection has committed. */
function versionOf(db: Session): number {
  return db.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
}

function readyHeads(db: Session): Map<string, string> {
  const heads = new Map<string, string>();
  for (let last = ''; heads.size < MOST_LANES;) {
    const next = db.get<{ lane: string; job_id: string }>(
      `SELECT lane, job_id FROM jobs WHERE ready = 1 AND lane > ?
       ORDER BY lane, tenant_id, gate, priority DESC, due_at, job_id LIMIT 1`,
      last,
    );
    if (!next) break;
    last = next.lane;
    heads.set(last, next.job_id);
  }
  return heads;
}
