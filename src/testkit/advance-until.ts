import { toMs, type Duration } from '../engine/duration.js';
import type { FakeClock } from './fake-clock.js';

/**
 * How many turns of the event loop code gets between two moves of the clock. A commit takes one or two, so this is
 * enough for several steps; code that needs more merely sees more time pass, as on a slow machine.
 */
const TURNS = 20;

export type AdvanceOptions = {
  /** How far the clock may move before it is an error that the condition still does not hold. */
  readonly atMost?: Duration;
};

/**
 * Moves a fake clock from timer to timer until the condition holds, and lets everything that became possible run in
 * between. Days pass in milliseconds; nothing that falls due on the way is skipped. For stores in this process: memory
 * and SQLite.
 */
export async function advanceUntil(
  clock: FakeClock,
  condition: () => boolean | Promise<boolean>,
  { atMost = '400d' }: AdvanceOptions = {},
): Promise<void> {
  const until = clock.now() + toMs(atMost, 'atMost');
  for (;;) {
    await turns();
    if (await condition()) return;
    const { nextAt } = clock;
    if (nextAt === null) throw new Error('the condition does not hold, and no timer is left to change that');
    if (nextAt > until) throw new Error(`the condition does not hold after ${String(atMost)}`);
    clock.advance(nextAt - clock.now());
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}
