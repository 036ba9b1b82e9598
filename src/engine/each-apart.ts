import { PawlError } from '../errors.js';
import type { Engine } from './engine.js';

/**
 * Does something for each, all at once. One that cannot be done, such as for a job whose log cannot be read, is logged, and keeps nobody
 * else waiting; a store that does not answer is everybody's trouble, and thrown. Answers with those that failed.
 */
export async function eachApart<T>(
  { log }: Pick<Engine, 'log'>,
  all: readonly T[],
  { doing, nameOf, work }: { doing: string; nameOf: (one: T) => string; work: (one: T) => Promise<unknown> },
): Promise<T[]> {
  const failed: T[] = [];
  await Promise.all(
    all.map(async (one) => {
      try {
        await work(one);
      } catch (error) {
        if (error instanceof PawlError && error.retryable) throw error;
        log.error(`${doing} failed`, { jobId: nameOf(one), error });
        failed.push(one);
      }
    }),
  );
  return failed;
}
