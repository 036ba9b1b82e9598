import { BUCKETS, newJobId } from '../kernel/index.js';
import type { Clock } from '../ports/clock.js';
import type { Random } from '../ports/random.js';
import { systemClock } from './system-clock.js';
import { systemRandom } from './system-random.js';

/** An id for a run, in the order of time: a ULID, as jobs have it. */
export function newRunId({
  clock = systemClock,
  random = systemRandom(),
}: { clock?: Pick<Clock, 'now'>; random?: Random } = {}): string {
  return newJobId({ now: clock.now(), bucket: random.int(BUCKETS), draw: (below) => random.int(below) });
}
