import type { AnyTask } from '../../src/client/task.js';
import { effect, task, type Task } from '../../src/index.js';
import { Meter } from '../harness/meter.js';
import { LOOK_EVERY_MS, pause } from '../harness/pause.js';
import { secondsOf } from '../harness/statistics.js';
import { WARM_UP, warmUp } from '../harness/warm-up.js';
import type { Figures, Measure, WorkloadId } from '../workloads/workload.js';
import { withPawl } from './pawl-system.js';

type OtherJobs = 'effects' | 'children' | 'retries' | 'dead-letters';

const leaf = task({ name: 'leaf' }, () => null);
const charge = effect({ name: 'charge', run: async () => null });

/** Jobs that do more than steps: the first task is started, and comes to so many jobs. */
const JOBS: Readonly<
  Record<OtherJobs, () => { tasks: readonly [Task<unknown, unknown>, ...AnyTask[]]; jobs: number }>
> = {
  effects: () => ({
    tasks: [
      task({ name: 'charges' }, async ({ step }) => {
        for (let n = 0; n < 5; n++) await step.effect('charge', charge, n);
      }),
    ],
    jobs: 1,
  }),
  children: () => ({
    tasks: [task({ name: 'parent' }, ({ step }) => step.call('child', leaf, null)), leaf],
    jobs: 2,
  }),
  retries: () => {
    const failed = new Set<unknown>();
    const retry = { maxRetries: 1, baseMs: 10, jitterMs: 0 };
    const flaky = task({ name: 'flaky', retry }, ({ input }) => {
      if (failed.has(input)) return;
      failed.add(input);
      throw new Error('the first time');
    });
    return { tasks: [flaky], jobs: 1 };
  },
  'dead-letters': () => ({
    tasks: [
      task({ name: 'broken', retry: { maxRetries: 0 } }, () => {
        throw new Error('always');
      }),
    ],
    jobs: 1,
  }),
};

const measured =
  (kind: OtherJobs): Measure =>
  async ({ urls: [url, other], size, warmUpMs }): Promise<Figures> => {
    const warm = Math.ceil(size * WARM_UP);
    await warmUp(warmUpMs, async () => (await runAll(kind, other, warm)).seconds);
    const { seconds, spent } = await runAll(kind, url, size);
    return { 'jobs/s': size / seconds, ...spent };
  };

/** Started together, and run by one worker; until the store knows of every end. */
function runAll(kind: OtherJobs, url: string, size: number): Promise<{ seconds: number; spent: Figures }> {
  const { tasks, jobs } = JOBS[kind]();
  return withPawl(url, tasks, async (app) => {
    const before = ended(await app.counts());
    await app.work({ concurrency: 500, stopOnSignal: false, drain: 0 });
    const inputs = Array.from({ length: size }, (_, input) => ({ input }));
    const meter = await Meter.open(url);
    const seconds = await secondsOf(async () => {
      await app.startMany(tasks[0], inputs);
      while (ended(await app.counts()) < before + size * jobs) await pause(LOOK_EVERY_MS);
    });
    return { seconds, spent: await meter.perJob(size) };
  });
}

const ended = ({ succeeded = 0, failed = 0 }: Readonly<Record<string, number>>): number => succeeded + failed;

export const otherJobs: Readonly<Record<OtherJobs & WorkloadId, Measure>> = {
  effects: measured('effects'),
  children: measured('children'),
  retries: measured('retries'),
  'dead-letters': measured('dead-letters'),
};
