import { Pawl, pawl, task } from '../../src/index.js';
import { Meter } from '../harness/meter.js';
import { pause } from '../harness/pause.js';
import { rateOf } from '../harness/statistics.js';
import { Recorder } from '../workloads/system.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { quiet } from './pawl-system.js';

const WORKERS = 100;
const CONCURRENCY = 5;

/** A drain by a hundred workers, each with a lease and claims of its own. They share this process's connections. */
export async function claimers({ urls: [url], size }: Ground): Promise<Figures> {
  const recorder = new Recorder();
  const noop = task({ name: 'noop' }, () => recorder.noop(''));
  const first = await pawl({ store: url, tasks: [noop], log: quiet });
  const { store } = Pawl.inside(first).engine;
  const others: Pawl[] = [];
  for (let n = 1; n < WORKERS; n++) others.push(await pawl({ store, tasks: [noop], log: quiet }));
  for (let from = 0; from < size; from += 1_000) {
    const inputs = Array.from({ length: Math.min(1_000, size - from) }, (_, n) => ({ input: from + n }));
    await first.startMany(noop, inputs);
  }
  const all = [first, ...others];
  const meter = await Meter.open(url);
  const rate = await rateOf(size, async () => {
    await Promise.all(
      all.map((app) => app.work({ concurrency: CONCURRENCY, stopOnSignal: false, drain: 0 })),
    );
    await recorder.until(size);
    while (((await first.counts()).succeeded ?? 0) < size) await pause(5);
  });
  const spent = await meter.perJob(size);
  await Promise.all(all.map((app) => app.stop()));
  await first.close();
  return { 'jobs/s': rate, 'runs/job': recorder.ran / size, ...spent };
}
