import { pawl, task, type Pawl, type Start, type Task, type WorkOptions } from '../../src/index.js';

export type Measure = { readonly name: string; readonly value: number; readonly unit: string };

const noop = task({ name: 'noop' }, () => null);
const fiveSteps = task({ name: 'five-steps' }, async ({ step }) => {
  let sum = 0;
  for (let n = 0; n < 5; n++) sum += await step.run('add', () => n);
  return sum;
});
const manySteps = task({ name: 'many-steps' }, async ({ input, step }) => {
  for (let n = 0; n < (input as number); n++) await step.run('one', () => n);
});
const parked = task({ name: 'parked' }, ({ step }) => step.waitFor('go'));
const held = task({ name: 'held' }, async () => {
  await new Promise<void>((resolve) => waiting.push(resolve));
});
const waiting: (() => void)[] = [];

const TASKS = [noop, fiveSteps, manySteps, parked, held];

/** Opens the store, works on it, and lets go of it. */
async function using<T>(
  url: string,
  work: WorkOptions | false,
  measure: (app: Pawl) => Promise<T>,
): Promise<T> {
  const app = await pawl({ store: url, tasks: TASKS });
  if (work !== false) await app.work({ stopOnSignal: false, drain: 0, ...work });
  try {
    return await measure(app);
  } finally {
    await app.close();
  }
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
};

/** Starts by a hundred callers at once, each waiting for its own before the next. */
export const singleStarts = (url: string, jobs: number): Promise<Measure> =>
  using(url, false, async (app) => {
    const each = Math.ceil(jobs / 100);
    const caller = async () => {
      for (let n = 0; n < each; n++) await app.start(noop, n);
    };
    const took = await seconds(() => Promise.all(Array.from({ length: 100 }, caller)));
    return { name: 'single starts, 100 callers', value: (each * 100) / took, unit: '/s' };
  });

export const bulkStarts = (url: string, jobs: number): Promise<Measure> =>
  using(url, false, async (app) => {
    const took = await seconds(() => startAll(app, noop, jobs));
    return { name: 'bulk starts', value: jobs / took, unit: '/s' };
  });

/** A backlog that is there before the worker is. */
export async function drain(url: string, jobs: number, kind: 'noop' | 'five-steps'): Promise<Measure> {
  const one: Task<unknown, unknown> = kind === 'noop' ? noop : fiveSteps;
  const name = kind === 'noop' ? 'drain of no-op jobs' : '5-step jobs';
  const last = await using(url, false, async (app) => {
    await startAll(app, one, jobs);
    return (await app.start(one, null, { priority: -1 })).job.id;
  });
  const concurrency = kind === 'noop' ? 500 : 200;
  const took = await seconds(() =>
    using(url, { concurrency }, async (app) => {
      await app.job(last).result();
      while ((await app.counts()).succeeded !== jobs + 1) await turn();
    }),
  );
  return { name, value: jobs / took, unit: '/s' };
}

/** One step after the other, in one job; and how much dearer they get as the history grows. */
export const sequentialSteps = (url: string, steps: number): Promise<Measure> =>
  using(url, {}, async (app) => {
    const took = await seconds(async () => (await app.start(manySteps, steps)).job.result());
    return { name: `ms per step, ${steps} in a row`, value: (took * 1_000) / steps, unit: ' ms' };
  });

/** From the return of `start` to the handler, on an idle worker in the same process. */
export const pickUp = (url: string, jobs: number): Promise<Measure[]> =>
  using(url, {}, async (app) => {
    const tookMs: number[] = [];
    for (let n = 0; n < jobs; n++) {
      const startedAt = performance.now();
      const { job } = await app.start(noop, n);
      await job.result();
      tookMs.push(performance.now() - startedAt);
      await turn();
    }
    tookMs.sort((a, b) => a - b);
    const at = (share: number) => tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0;
    return [
      { name: 'start to result, p50', value: at(0.5), unit: ' ms' },
      { name: 'start to result, p99', value: at(0.99), unit: ' ms' },
    ];
  });

/** What a job that is being run costs in memory. */
export const inFlight = (url: string, jobs: number): Promise<Measure> =>
  using(url, { concurrency: jobs }, async (app) => {
    await app.start(noop, null).then(({ job }) => job.result());
    const before = heap();
    const all = await startAll(app, held, jobs);
    while (waiting.length < jobs) await turn();
    const bytes = heap() - before;
    for (const resolve of waiting.splice(0)) resolve();
    await Promise.all(all.slice(-10).map(({ job }) => job.result()));
    return { name: `memory per job, ${jobs} in flight`, value: bytes / jobs / 1_024, unit: ' kB' };
  });

/** Jobs that wait are woken by their signals. */
export const signals = (url: string, jobs: number): Promise<Measure> =>
  using(url, { concurrency: 200 }, async (app) => {
    const all = await startAll(app, parked, jobs);
    while ((await app.counts()).waiting !== jobs) await turn();
    const took = await seconds(async () => {
      await Promise.all(all.map(({ job }) => job.signal('go', 1)));
      while ((await app.counts()).succeeded !== jobs) await turn();
    });
    return { name: `waits woken by ${jobs} signals`, value: jobs / took, unit: '/s' };
  });

async function startAll<R>(app: Pawl, one: Task<unknown, R>, jobs: number): Promise<Start<R>[]> {
  const started: Start<R>[] = [];
  for (let from = 0; from < jobs; from += 1_000) {
    const inputs = Array.from({ length: Math.min(1_000, jobs - from) }, (_, n) => ({ input: from + n }));
    started.push(...(await app.startMany(one, inputs)));
  }
  return started;
}

const turn = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 5);
  });

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
