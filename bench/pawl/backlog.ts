import { rateOf, secondsOf } from '../harness/statistics.js';
import { Recorder, type System } from '../workloads/system.js';
import { startAll } from '../workloads/six.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { pawlSystem } from './pawl-system.js';

/** How many jobs are run out of the backlog, at most: few beside it, so that it stays what it is. */
const MOST_DRAINED = 20_000;

/**
 * The same number of jobs is run out of a store that holds nothing else, and out of one with a large backlog, in turns.
 * Time is taken from the worker's start to the last handler that counts.
 */
export async function backlog({ urls: [crowded, empty], size, rounds }: Ground): Promise<Figures[]> {
  const count = Math.min(MOST_DRAINED, Math.ceil(size / (2 * (rounds + 1))));
  const filling = await opened(crowded);
  const fillSeconds = await secondsOf(() => startAll(filling.system, 'noop', size));
  if (crowded !== 'memory:') await filling.system.close();
  const crowdedOne = crowded === 'memory:' ? filling : null;
  const found: Figures[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const few = await opened(empty);
    await startAll(few.system, 'noop', count);
    const alone = await drainRate(few, count);
    await few.system.close();
    const many = crowdedOne ?? (await opened(crowded));
    const beside = await drainRate(many, count);
    if (crowdedOne === null) await many.system.close();
    if (round > 0)
      found.push({
        'jobs/s': beside,
        'empty jobs/s': alone,
        'of empty': beside / alone,
        'fill jobs/s': size / fillSeconds,
      });
  }
  await crowdedOne?.system.close();
  return found;
}

type Opened = { readonly recorder: Recorder; readonly system: System };

async function opened(url: string): Promise<Opened> {
  const recorder = new Recorder();
  return { recorder, system: await pawlSystem(url, recorder) };
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
