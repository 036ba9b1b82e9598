import { load, NO_STEPS, type Peer } from './peer.js';

type Queue = {
  add(name: string, data: object, options: object): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: object; opts: object }[]): Promise<unknown>;
  getJobCounts(...states: readonly string[]): Promise<Record<string, number>>;
  close(): Promise<void>;
};
type Worker = { waitUntilReady(): Promise<unknown>; close(force: boolean): Promise<void> };
type BullMq = {
  Queue: new (name: string, options: object) => Queue;
  Worker: new (
    name: string,
    run: (job: { data: { input: string } }) => Promise<void>,
    options: object,
  ) => Worker;
};

const CONCURRENCY = 100;
const OPTIONS = { removeOnComplete: true };

export const peer: Peer = {
  name: 'bullmq',
  packages: ['bullmq'],
  settings: `concurrency ${CONCURRENCY}, addBulk of 1,000, removeOnComplete`,
  on: 'redis',
  cannot: { 'five-steps': NO_STEPS, step: NO_STEPS },
  async open(url, handlers) {
    const { Queue, Worker } = await load<BullMq>('bullmq');
    const { hostname: host, port, hash } = new URL(url);
    const connection = { host, port: Number(port), maxRetriesPerRequest: null };
    const name = `queue-${hash.slice(1)}`;
    const queue = new Queue(name, { connection });
    let worker: Worker | null = null;
    return {
      start: (kind, input) => queue.add(kind, { input }, OPTIONS),
      startMany: (kind, inputs) =>
        queue.addBulk(inputs.map((input) => ({ name: kind, data: { input }, opts: OPTIONS }))),
      async work() {
        worker = new Worker(name, async ({ data }) => handlers.noop(data.input), {
          connection,
          concurrency: CONCURRENCY,
        });
        await worker.waitUntilReady();
      },
      async left() {
        const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized');
        return Object.values(counts).reduce((sum, count) => sum + count, 0);
      },
      async close() {
        await worker?.close(true);
        await queue.close();
      },
    };
  },
};
