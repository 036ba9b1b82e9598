import type { Alarms } from './alarms.js';

/** Waits for something, and no longer than so. True: it has ended in time, one way or another. */
export function atMost(alarms: Alarms, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = alarms.set(ms, () => resolve(false));
    const end = (): void => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}
