import type { Guarantee } from '../cells.js';
import { Missed, type Trial } from '../trial.js';
import type { Worker } from '../trial-worker.js';

/** Lets workers go on that stood still before a write, all at once, until each write has been answered. */
export async function thaw(
  trial: Trial,
  ...zombies: readonly { readonly zombie: Worker; readonly at: string }[]
): Promise<void> {
  for (const { zombie } of zombies) zombie.process.signal('SIGCONT');
  for (const { zombie, at } of zombies) {
    const answered = at.replace(/^before/, 'after');
    await trial.until(`a write of a worker that was frozen is answered: ${at}`, () => {
      if (zombie.process.isGone) throw new Missed(`a frozen worker ended: ${zombie.process.said}`);
      return zombie.trace().includes(answered);
    });
  }
}

/** What became of a late write. Only the result of a tool may still be kept; what is to be committed must be refused. */
export function fateOf(
  zombie: Worker,
  at: string,
): { readonly words: string; readonly problems: readonly (readonly [Guarantee, string])[] } {
  const [refused] = zombie.refused();
  if (refused !== undefined) {
    return { words: `its write was refused (${refused})`, problems: [] };
  }
  if (at.startsWith('before putEffect'))
    return { words: 'its result was kept, and not committed again', problems: [] };
  return { words: 'its write was NOT refused', problems: [['G6', `a stale write was taken: ${at}`]] };
}
