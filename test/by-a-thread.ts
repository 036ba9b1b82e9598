import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../src/client/system-clock.js';
import type { StoreClock } from '../src/ports/clock.js';
import { CROWDS, type CrowdsOptions } from '../src/stores/sqlite/crowds.js';
import { bundled } from './bundled.js';

/** SQLite's new jobs are handed to a thread, however few they are. Where tests run the sources, there is no file for it beside them. */
export async function byAThread(): Promise<CrowdsOptions> {
  const script = pathToFileURL(join(await bundled(), 'src/stores/sqlite/writer-thread.js'));
  return { ...CROWDS, script, after: 0, few: 1 };
}

/** The time is the test's, waiting takes as long as it does: another connection's thread may be writing, and is at work in real time. */
export function withRealWaits(clock: StoreClock): StoreClock {
  return { now: () => clock.now(), after: (ms, run) => systemClock.after(ms, run) };
}
