import type { Answers } from '../group-commit.js';
import { isUnreadable } from './server-error.js';

/**
 * What the server cannot read of one request is that one's error. The others that went with it are asked again, each for itself.
 */
export function forItself<Ask, Answer>(
  run: (asks: readonly Ask[]) => Promise<Answers<Answer>>,
): (asks: readonly Ask[]) => Promise<Answers<Answer>> {
  return async (asks) => {
    try {
      return await run(asks);
    } catch (error) {
      if (asks.length === 1 || !isUnreadable(error)) throw error;
      return asks.map(async (ask) => (await run([ask]))[0] as Answer);
    }
  };
}
