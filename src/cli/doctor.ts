import { openStore } from '../client/open-store.js';
import { systemClock } from '../client/system-clock.js';
import { holdRestored } from '../engine/hold-restored.js';
import { print, type Console } from './console.js';

export type DoctorOptions = {
  readonly store: string;
  readonly all: boolean;
  readonly tasks: readonly string[] | null;
  readonly by: string;
  readonly json: boolean;
};

/** After a restore to an earlier point: holds what may already have had effects that the log does not know. */
export async function doctorRestored(
  console: Console,
  { store: url, all, tasks, by, json }: DoctorOptions,
): Promise<number> {
  const store = await openStore(url, { clock: systemClock, migrations: 'verify' });
  try {
    const report = await holdRestored(store, {
      all,
      tasks,
      by,
      onProgress: (jobs) => console.isTerminal && !json && console.err(`\r${jobs} jobs looked at`),
    });
    if (console.isTerminal && !json) console.err('\r\u001b[K');
    const byTask = Object.entries(report.heldByTask).map(([task, count]) => `  ${count} of ${task}`);
    const text = [
      `${report.looked} jobs looked at, ${report.held} now held:`,
      ...(byTask.length > 0 ? byTask : ['  none: no unfinished job has a task that uses effects']),
      'Check what they did after the point of the restore, then `pawl release` them, or cancel them.',
    ].join('\n');
    print(console, { json, data: report, text });
    return 0;
  } finally {
    await store.close();
  }
}

/** Lets held jobs be claimed again. */
export async function release(
  console: Console,
  { store: url, jobIds, json }: { store: string; jobIds: readonly string[]; json: boolean },
): Promise<number> {
  const store = await openStore(url, { clock: systemClock, migrations: 'verify' });
  try {
    const { changed } = await store.release(jobIds);
    print(console, {
      json,
      data: { released: changed },
      text: `${changed} of ${jobIds.length} jobs released`,
    });
    return changed === jobIds.length ? 0 : 1;
  } finally {
    await store.close();
  }
}
