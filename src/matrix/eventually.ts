import { systemClock } from '../client/system-clock.js';

/** Far more than anything here takes on a busy machine. */
const GIVE_UP_AFTER_MS = 60_000;
const LOOK_AGAIN_MS = 20;

/** Looks again and again until it finds something. */
export async function eventually<T>(look: () => Promise<T | null> | T | null, what: string): Promise<T> {
  const giveUpAt = systemClock.elapsed() + GIVE_UP_AFTER_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (systemClock.elapsed() > giveUpAt) throw new Error(`waited in vain until ${what}`);
    await new Promise<void>((resolve) => {
      systemClock.after(LOOK_AGAIN_MS, resolve);
    });
  }
}
