import { PawlError } from '../errors.js';
import { Bell } from './bell.js';
import type { Engine } from './engine.js';

const FIRST_BACKOFF_MS = 100;
const MOST_BACKOFF_MS = 5_000;

export type Stoppable = { stop(): Promise<void> };

export type Loop = {
  readonly name: string;
  readonly bell: Bell;
  readonly everyMs: number;
  /** One round; true if there is more to do at once. */
  readonly pass: () => Promise<boolean>;
};

/** A loop that runs until it is stopped. Whatever a round throws, the next one comes: an outage must not end it. */
export function repeat(engine: Engine, { name, bell, everyMs, pass }: Loop): Stoppable {
  /** Apart from the loop's own bell: work that arrives during an outage must not make it try without pause. */
  const backoff = new Bell(engine.alarms);
  let stopped = false;
  let failures = 0;
  const isStopped = () => stopped;

  async function round(): Promise<void> {
    try {
      const more = await pass();
      if (failures > 0) engine.log.info(`${name} works again`, { after: failures });
      failures = 0;
      if (!more && !stopped) await bell.sleep(everyMs);
    } catch (error) {
      if (stopped && error instanceof PawlError && error.code === 'APP_CLOSED') return;
      failures += 1;
      const expected = error instanceof PawlError && error.retryable;
      if (failures === 1 || !expected) engine.log[expected ? 'warn' : 'error'](`${name} failed`, { error });
      if (!stopped) await backoff.sleep(backoffMs(engine, failures));
    }
  }

  const done = (async () => {
    do await round();
    while (!isStopped());
  })();

  return {
    async stop() {
      stopped = true;
      bell.ring();
      backoff.ring();
      await done;
    },
  };
}

/** Spread out, so that many processes do not come back to a store in one moment. */
export function backoffMs(engine: Engine, failures: number): number {
  const most = Math.min(MOST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
  return most / 2 + engine.random.int(most / 2 + 1);
}
