import type { Handlers, Kind, Step } from '../workloads/system.js';
import { counting, countedPg } from './counted-pg.js';
import { load, type Peer } from './peer.js';

type Client = { enqueue(options: object, ...args: unknown[]): Promise<unknown>; destroy(): Promise<void> };
type Dbos = {
  DBOS: {
    setConfig(config: object): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    registerWorkflow(run: (input: string) => Promise<void>, config: object): unknown;
    registerQueue(name: string, options: object): Promise<unknown>;
    runStep(run: () => Promise<number>, config: object): Promise<number>;
  };
  DBOSClient: { create(options: object): Promise<Client> };
};

const QUEUE = 'bench';
const CONCURRENCY = 500;
const POLL_MS = 10;
const OPEN = `SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING', 'DELAYED')`;

/** Workflows are registered once in a process; whoever opened last hears them. */
let heard: Handlers | null = null;

function register({ DBOS }: Dbos, handlers: Handlers): void {
  const isNew = heard === null;
  heard = handlers;
  if (!isNew) return;
  const step: Step = (name, run) => DBOS.runStep(async () => run(), { name });
  const kinds: Record<Kind, (input: string) => Promise<void>> = {
    noop: async (input) => heard?.noop(input),
    'five-steps': async () => heard?.fiveSteps(step),
    steps: async (input) => heard?.steps(input, step),
  };
  for (const [name, run] of Object.entries(kinds)) DBOS.registerWorkflow(run, { name });
}

export const peer: Peer = {
  name: 'dbos',
  packages: ['@dbos-inc/dbos-sdk'],
  settings: `workerConcurrency ${CONCURRENCY}, minPollingIntervalMs ${POLL_MS}, pools of 20, enqueue one by one (it has no bulk)`,
  on: 'postgres',
  share: { 'single-starts': 0.25, 'bulk-starts': 0.1, drain: 0.25, 'five-steps': 0.2 },
  async open(url, handlers) {
    countedPg();
    const dbos = await load<Dbos>('@dbos-inc/dbos-sdk');
    const { DBOS, DBOSClient } = dbos;
    register(dbos, handlers);
    DBOS.setConfig({
      name: 'bench',
      systemDatabaseUrl: url,
      systemDatabasePoolSize: 20,
      logLevel: 'error',
      applicationVersion: '1',
    });
    // Its first launch makes the tables, which a client expects.
    await DBOS.launch();
    await DBOS.registerQueue(QUEUE, { workerConcurrency: CONCURRENCY, minPollingIntervalMs: POLL_MS });
    await DBOS.shutdown();
    const client = await DBOSClient.create({ systemDatabaseUrl: url, systemDatabasePoolSize: 20 });
    const workflows = await counting(url, OPEN);
    let works = false;
    return {
      start: (kind, input) =>
        client.enqueue({ workflowName: kind, queueName: QUEUE, appVersion: '1' }, input),
      async work() {
        works = true;
        await DBOS.launch();
        await DBOS.registerQueue(QUEUE, { workerConcurrency: CONCURRENCY, minPollingIntervalMs: POLL_MS });
      },
      left: () => workflows.count(),
      async close() {
        if (works) await DBOS.shutdown();
        await client.destroy();
        await workflows.end();
      },
    };
  },
};
