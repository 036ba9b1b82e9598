import { schedule, task } from '../../src/index.js';
import { Meter } from '../harness/meter.js';
import { LOOK_EVERY_MS, pause } from '../harness/pause.js';
import { secondsOf } from '../harness/statistics.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { withPawl } from './pawl-system.js';

const AT_ONCE = 500;

/** Schedules that are all due when the worker begins. The time ends when each has made its job. */
export async function schedules({ urls: [url], size }: Ground): Promise<Figures> {
  const fired = task({ name: 'fired' }, () => null);
  return withPawl(url, [fired], async (app) => {
    const at = Date.now();
    for (let first = 0; first < size; first += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, size - first) }, (_, n) => `s${first + n}`);
      await Promise.all(some.map((id) => app.schedules.put(schedule(fired, { id, at, input: null }))));
    }
    const meter = await Meter.open(url);
    const seconds = await secondsOf(async () => {
      await app.work({ concurrency: 500, stopOnSignal: false, drain: 0 });
      while (sum(await app.counts()) < size) await pause(LOOK_EVERY_MS);
    });
    return { 'firings/s': size / seconds, ...(await meter.perJob(size)) };
  });
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);
