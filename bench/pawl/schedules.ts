import { schedule, task } from '../../src/index.js';
import { Meter } from '../harness/meter.js';
import { LOOK_EVERY_MS, pause } from '../harness/pause.js';
import { secondsOf } from '../harness/statistics.js';
import { WARM_UP, warmUp } from '../harness/warm-up.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { withPawl } from './pawl-system.js';

const AT_ONCE = 500;

export async function schedules({ urls: [url, other], size, warmUpMs }: Ground): Promise<Figures> {
  await warmUp(warmUpMs, async () => (await fireAll(other, Math.ceil(size * WARM_UP))).seconds);
  const { seconds, spent } = await fireAll(url, size);
  return { 'firings/s': size / seconds, ...spent };
}

/** Schedules that are all due when the worker begins. The time ends when each has made its job. */
function fireAll(url: string, size: number): Promise<{ seconds: number; spent: Figures }> {
  const fired = task({ name: 'fired' }, () => null);
  return withPawl(url, [fired], async (app) => {
    const before = sum(await app.counts());
    const at = Date.now();
    for (let first = 0; first < size; first += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, size - first) }, (_, n) => `s${at}-${first + n}`);
      await Promise.all(some.map((id) => app.schedules.put(schedule(fired, { id, at, input: null }))));
    }
    const meter = await Meter.open(url);
    const seconds = await secondsOf(async () => {
      await app.work({ concurrency: 500, stopOnSignal: false, drain: 0 });
      while (sum(await app.counts()) < before + size) await pause(LOOK_EVERY_MS);
    });
    return { seconds, spent: await meter.perJob(size) };
  });
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);
