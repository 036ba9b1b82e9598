import { systemClock } from '../client/system-clock.js';

/** Far more than anything here takes on a busy machine. */
const GIVE_UP_AFTER_MS = 200_000;
const LOOK_AGAIN_MS = 20;

/** What was waited for did not come in time. */
export class InVain extends Error {
  override readonly name = 'InVain';
  constructor(what: string) {
    super(`waited in vain until ${what}`);
  }
}

/** Looks again and again until it finds something. */
export async function eventually<T>(
  look: () => Promise<T | null> | T | null,
  what: string,
  { withinMs = GIVE_UP_AFTER_MS }: { readonly withinMs?: number } = {},
): Promise<T> {
  const giveUpAt = systemClock.elapsed() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (systemClock.elapsed() > giveUpAt) throw new InVain(what);
    await new Promise<void>((resolve) => {
      systemClock.after(LOOK_AGAIN_MS, resolve);
    });
  }
}
