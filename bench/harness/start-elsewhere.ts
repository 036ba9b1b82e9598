import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type Starts = {
  readonly subject: string;
  readonly url: string;
  readonly count: number;
  /** So long it starts others before, in quick succession: both processes compile what runs often. */
  readonly warmUpMs?: number;
};

/** `ended`: how many it has started, once it has. */
export type Started = { readonly ended: Promise<number> };

/**
 * Another process, which starts one job after the other, each with the time before its start as its input. How many it has
 * started is told when it has ended: the last of them count.
 */
export async function startElsewhere(starts: Starts): Promise<Started> {
  const child = fork(fileURLToPath(new URL('subject-process.js', import.meta.url)), [
    JSON.stringify({ role: 'starter', ...starts }),
  ]);
  let started = 0;
  child.once('message', (count) => {
    started = Number(count);
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => {
      if (code === 0) resolve(started);
      else reject(new Error(`the process that starts ended with ${code}`));
    });
  });
  // Whoever waits for it may come to that only later.
  ended.catch(() => undefined);
  return { ended };
}
