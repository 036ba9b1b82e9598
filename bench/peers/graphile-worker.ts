import type { Kind } from '../workloads/system.js';
import { counting, countedPg } from './counted-pg.js';
import { load, NO_STEPS, type Peer } from './peer.js';

type Utils = {
  addJob(task: string, payload: unknown): Promise<unknown>;
  addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
  migrate(): Promise<void>;
  release(): Promise<void>;
};
type Runner = { stop(): Promise<void> };
type Worker = {
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<Runner>;
  Logger: new (factory: () => () => void) => unknown;
};

/** Fetched ahead and completed in batches, as its page on performance advises for many small jobs. */
const THROUGHPUT = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};
const LATENCY = { concurrentJobs: 24, maxPoolSize: 25 };

export const peer: Peer = {
  name: 'graphile-worker',
  packages: ['graphile-worker'],
  settings:
    'concurrentJobs 24, localQueue.size 500, completeJobBatchDelay 0; addJobs of 1,000; pick-up without a local queue; finished jobs are deleted',
  on: 'postgres',
  share: { 'single-starts': 0.25 },
  cannot: { 'five-steps': NO_STEPS, step: NO_STEPS },
  async open(url, handlers, aim) {
    countedPg();
    const graphile = await load<Worker>('graphile-worker');
    const quiet = new graphile.Logger(() => () => undefined);
    const utils = await graphile.makeWorkerUtils({ connectionString: url, logger: quiet, maxPoolSize: 20 });
    await utils.migrate();
    const jobs = await counting(url, 'SELECT count(*) FROM graphile_worker.jobs');
    let runner: Runner | null = null;
    const payload = (input: string) => ({ input });
    return {
      start: (kind: Kind, input) => utils.addJob(kind, payload(input)),
      startMany: (kind: Kind, inputs) =>
        utils.addJobs(inputs.map((input) => ({ identifier: kind, payload: payload(input) }))),
      async work() {
        const taskList = {
          noop: async (given: unknown) => handlers.noop((given as { input: string }).input),
        };
        const worker = {
          connectionString: url,
          pollInterval: 2_000,
          ...(aim === 'latency' ? LATENCY : THROUGHPUT),
        };
        runner = await graphile.run({ taskList, logger: quiet, noHandleSignals: true, preset: { worker } });
      },
      left: () => jobs.count(),
      async close() {
        await runner?.stop();
        await utils.release();
        await jobs.end();
      },
    };
  },
};
