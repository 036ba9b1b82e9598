import { rateOf, secondsOf } from '../harness/statistics.js';
import { Recorder, type System } from '../workloads/system.js';
import { startAll } from '../workloads/six.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { pawlSystem } from './pawl-system.js';

/** How many jobs are run out of the backlog, at most: few beside it, so that it stays what it is. */
const MOST_DRAINED = 20_000;

/**
 * The same number of jobs is run out of a store that holds nothing else, and out of one with a large backlog, in turns. Either
 * worker remembers nothing of how its jobs were started. Time is taken from the worker's start to the last handler that counts.
 */
export async function backlog({ urls: [crowded, empty], size, rounds }: Ground): Promise<Figures[]> {
  const count = Math.min(MOST_DRAINED, Math.ceil(size / (2 * (rounds + 1))));
  let many = await opened(crowded);
  const fillSeconds = await secondsOf(() => startAll(many.system, 'noop', size));
  const found: Figures[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    let few = await opened(empty);
    await startAll(few.system, 'noop', count);
    few = await reopened(few, empty);
    const alone = await drainRate(few, count);
    await few.system.close();
    many = await reopened(many, crowded);
    const beside = await drainRate(many, count);
    const figures = { 'jobs/s': beside, 'empty jobs/s': alone, 'of empty': beside / alone };
    if (round > 0) found.push({ ...figures, 'fill jobs/s': size / fillSeconds });
  }
  await many.system.close();
  return found;
}

type Opened = { readonly recorder: Recorder; readonly system: System };

async function opened(url: string): Promise<Opened> {
  const recorder = new Recorder();
  return { recorder, system: await pawlSystem(url, recorder) };
}

/** A store in memory is gone when it is closed, and stays as it is. */
async function reopened(one: Opened, url: string): Promise<Opened> {
  if (url === 'memory:') return one;
  await one.system.close();
  return opened(url);
}

async function drainRate({ recorder, system }: Opened, count: number): Promise<number> {
  const goal = recorder.ran + count;
  const rate = await rateOf(count, async () => {
    await system.work('noop');
    await recorder.until(goal);
  });
  await system.stop?.();
  return rate;
}
