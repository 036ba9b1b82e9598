import { toMs, type Duration } from '../engine/duration.js';
import type { FakeClock } from './fake-clock.js';

/**
 * How many turns of the event loop code gets between two moves of the clock. A commit takes one or two, so this is
 * enough for several steps; code that needs more merely sees more time pass, as on a slow machine.
 */
const TURNS = 20;

export type AdvanceOptions = {
  /** How far the clock may move before it is an error that nothing has come of it. */
  readonly atMost?: Duration;
};

/**
 * Moves a fake clock from timer to timer until a condition holds or a promise is settled, and lets everything that
 * became possible run in between. Days pass in milliseconds, and nothing that falls due on the way is skipped. It suits
 * stores in this process, memory and SQLite; what goes elsewhere must be wrapped in `clock.during`. Whoever polls adds
 * moves: `job.result()` looks once a second, so over days a condition is the quicker way.
 */
export async function advanceUntil<T>(
  clock: FakeClock,
  awaited: Promise<T>,
  options?: AdvanceOptions,
): Promise<T>;
export async function advanceUntil(
  clock: FakeClock,
  awaited: () => boolean | Promise<boolean>,
  options?: AdvanceOptions,
): Promise<void>;
export async function advanceUntil(
  clock: FakeClock,
  awaited: Promise<unknown> | (() => boolean | Promise<boolean>),
  { atMost = '400d' }: AdvanceOptions = {},
): Promise<unknown> {
  const until = clock.now() + toMs(atMost, 'atMost');
  const isOver = typeof awaited === 'function' ? awaited : settled(awaited);
  for (;;) {
    await quiet(clock, TURNS);
    if (await isOver()) return typeof awaited === 'function' ? undefined : awaited;
    const { nextAt } = clock;
    if (nextAt === null) throw new Error('it has not come true, and no timer is left to change that');
    if (nextAt > until) throw new Error(`it has not come true after ${String(atMost)}`);
    clock.advance(nextAt - clock.now());
  }
}

function settled(promise: Promise<unknown>): () => boolean {
  let over = false;
  const end = (): void => void (over = true);
  promise.then(end, end);
  return () => over;
}

/** So many turns of the event loop in a row in which nothing of the real world was waited for. */
export async function quiet(clock: FakeClock, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (clock.busy === 0) continue;
    await clock.idle();
    turn = -1;
  }
}
