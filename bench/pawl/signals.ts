import { task } from '../../src/index.js';
import { Meter } from '../harness/meter.js';
import { pause } from '../harness/pause.js';
import { secondsOf } from '../harness/statistics.js';
import { WARM_UP, warmUp } from '../harness/warm-up.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { withPawl } from './pawl-system.js';

export async function signals({ urls: [url, other], size, warmUpMs }: Ground): Promise<Figures> {
  await warmUp(warmUpMs, async () => (await wakeAll(other, Math.ceil(size * WARM_UP))).seconds);
  const { seconds, spent } = await wakeAll(url, size);
  return { 'woken/s': size / seconds, ...spent };
}

/** All jobs wait, then all are sent their signal at once. The time ends when the last of them has ended. */
function wakeAll(url: string, size: number): Promise<{ seconds: number; spent: Figures }> {
  const parked = task({ name: 'parked' }, ({ step }) => step.waitFor('go'));
  return withPawl(url, [parked], async (app) => {
    const before = (await app.counts()).succeeded ?? 0;
    await app.work({ concurrency: 200, stopOnSignal: false, drain: 0 });
    const inputs = Array.from({ length: size }, (_, n) => ({ input: n }));
    const all = await app.startMany(parked, inputs);
    while (((await app.counts()).waiting ?? 0) < size) await pause(5);
    const meter = await Meter.open(url);
    const seconds = await secondsOf(async () => {
      await Promise.all(all.map(({ job }) => job.signal('go', 1)));
      while (((await app.counts()).succeeded ?? 0) < before + size) await pause(5);
    });
    return { seconds, spent: await meter.perJob(size) };
  });
}
