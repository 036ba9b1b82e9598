import { counting, countedPg } from './counted-pg.js';
import { load, NO_STEPS, type Peer } from './peer.js';

type Fetched = { readonly data: { readonly input: string } };
type Boss = {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: object): Promise<unknown>;
  insert(name: string, jobs: readonly { data: object }[]): Promise<unknown>;
  work(name: string, options: object, handler: (jobs: readonly Fetched[]) => Promise<void>): Promise<unknown>;
  on(event: 'error', hear: (error: Error) => void): void;
};

const QUEUE = 'noop';
const THROUGHPUT = { batchSize: 1_000, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
/** Woken by NOTIFY. */
const LATENCY = { batchSize: 10, pollingIntervalSeconds: 0.5 };

export const peer: Peer = {
  name: 'pg-boss',
  packages: ['pg-boss'],
  settings:
    'insert of 1,000; work with batchSize 1,000 and burstWhenBatchFull; pick-up with useListenNotify and batchSize 10',
  on: 'postgres',
  share: { 'single-starts': 0.25 },
  cannot: { 'five-steps': NO_STEPS, step: NO_STEPS },
  async open(url, handlers, aim) {
    countedPg();
    const notify = aim === 'latency';
    const { PgBoss } = await load<{ PgBoss: new (options: object) => Boss }>('pg-boss');
    const boss = new PgBoss({
      connectionString: url,
      max: 20,
      useListenNotify: notify,
      supervise: false,
      schedule: false,
    });
    boss.on('error', (error) => console.error(error.message));
    await boss.start();
    await boss.createQueue(QUEUE, { notify });
    const jobs = await counting(url, `SELECT count(*) FROM pgboss.job WHERE state < 'completed'`);
    return {
      start: (_kind, input) => boss.send(QUEUE, { input }),
      startMany: (_kind, inputs) =>
        boss.insert(
          QUEUE,
          inputs.map((input) => ({ data: { input } })),
        ),
      work: () =>
        boss.work(QUEUE, notify ? LATENCY : THROUGHPUT, async (fetched) => {
          for (const { data } of fetched) handlers.noop(data.input);
        }),
      left: () => jobs.count(),
      async close() {
        await boss.stop({ graceful: true, timeout: 5_000 });
        await jobs.end();
      },
    };
  },
};
