import type { Job, Timestamp } from '../../kernel/index.js';
import { invalid } from './worker-commands.js';

/** How far the time of a worker may be ahead of ours: clocks do not run alike. More, and timers could end early. */
const MOST_AHEAD_MS = 1_000;
/** How old a start may be when it arrives: it is sent again and again for some seconds while we cannot be reached. */
const MOST_DELAY_MS = 60_000;

/** Times come from the worker, which has them from us. They may lie neither ahead of us nor behind the job's last event. */
export function expectTime(at: Timestamp, job: Job | null, now: Timestamp): void {
  if (at > now + MOST_AHEAD_MS) throw invalid('now', 'lies ahead of the time of the store');
  if (at < (job?.updatedAt ?? now - MOST_DELAY_MS))
    throw invalid('now', 'lies behind the last event of the job');
}
