import { PawlError } from '../errors.js';
import type { Engine } from './engine.js';
import { pause } from './pause.js';
import { backoffMs } from './repeat.js';

/** Asks until the store answers, however long that takes, or the application is closed: for what must not get lost with an outage. */
export async function untilAnswered<T>(engine: Engine, ask: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof PawlError && error.retryable)) throw error;
      await pause(engine, backoffMs(engine, failures));
    }
  }
}
