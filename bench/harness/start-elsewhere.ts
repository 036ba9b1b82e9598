import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Between two starts: long enough for everything to have come to rest. */
const PAUSE_MS = 15;

export type Starts = { readonly subject: string; readonly url: string; readonly count: number };

/** Another process, which starts one job after the other, each with the time before its start as its input. */
export async function startElsewhere(starts: Starts): Promise<{ ended: Promise<void> }> {
  const child = fork(fileURLToPath(new URL('subject-process.js', import.meta.url)), [
    JSON.stringify({ role: 'starter', pauseMs: PAUSE_MS, ...starts }),
  ]);
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the process that starts ended with ${code}`));
    });
  });
  // Whoever waits for it may come to that only later.
  ended.catch(() => undefined);
  return { ended };
}
