import { task } from '../../src/index.js';
import { pause } from '../harness/pause.js';
import type { Figures, Ground } from '../workloads/workload.js';
import { withPawl } from './pawl-system.js';

/** What a job that is being run costs in memory. */
export async function inFlight({ urls: [url], size }: Ground): Promise<Figures> {
  const waiting: (() => void)[] = [];
  const held = task({ name: 'held' }, () => new Promise<void>((resolve) => waiting.push(resolve)));
  const noop = task({ name: 'noop' }, () => null);
  return withPawl(url, [held, noop], async (app) => {
    await app.work({ concurrency: size, stopOnSignal: false, drain: 0 });
    await (await app.start(noop, null)).job.result();
    const before = memory();
    for (let from = 0; from < size; from += 1_000) {
      const inputs = Array.from({ length: Math.min(1_000, size - from) }, (_, n) => ({ input: from + n }));
      await app.startMany(held, inputs);
    }
    while (waiting.length < size) await pause(5);
    const after = memory();
    for (const resolve of waiting.splice(0)) resolve();
    while (((await app.counts()).succeeded ?? 0) < size + 1) await pause(5);
    return {
      'kB/job': (after.heapUsed - before.heapUsed) / size / 1_024,
      'process MB': after.rss / 1_048_576,
    };
  });
}

function memory(): NodeJS.MemoryUsage {
  globalThis.gc?.();
  return process.memoryUsage();
}
