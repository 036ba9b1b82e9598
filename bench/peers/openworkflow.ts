import type { Handlers, Kind, System } from '../workloads/system.js';
import { counting } from './counted-pg.js';
import { load, type Peer } from './peer.js';

export type Backend = { stop(): Promise<void> };
type Runnable = { run(input: object): Promise<unknown> };
type Worker = { start(): Promise<void>; stop(): Promise<void> };
type Context = {
  readonly input: { readonly input: string };
  readonly step: { run(options: { name: string }, run: () => Promise<number>): Promise<number> };
};
type OpenWorkflow = {
  OpenWorkflow: new (options: { backend: Backend }) => {
    defineWorkflow(spec: { name: string }, run: (context: Context) => Promise<void>): Runnable;
    newWorker(options: { concurrency: number }): Worker;
  };
};

export const CONCURRENCY = 100;

export const peer: Peer = {
  name: 'openworkflow',
  packages: ['openworkflow', 'postgres'],
  settings: `Postgres backend, concurrency ${CONCURRENCY}, starts one by one (it has no bulk)`,
  on: 'postgres',
  share: { 'single-starts': 0.25, 'bulk-starts': 0.1, drain: 0.05, 'five-steps': 0.04 },
  async open(url, handlers) {
    const { BackendPostgres } = await load<{ BackendPostgres: { connect(url: string): Promise<Backend> } }>(
      'openworkflow/postgres',
    );
    const backend = await BackendPostgres.connect(url);
    const runs = await counting(
      url,
      `SELECT count(*) FROM openworkflow.workflow_runs WHERE status IN ('pending', 'running', 'sleeping')`,
    );
    const close = async () => {
      await backend.stop();
      await runs.end();
    };
    return workflowSystem(backend, handlers, { left: () => runs.count(), close });
  },
};

/** The same on either of its backends. */
export async function workflowSystem(
  backend: Backend,
  handlers: Handlers,
  { left, close }: Pick<System, 'left' | 'close'>,
): Promise<System> {
  const { OpenWorkflow: Engine } = await load<OpenWorkflow>('openworkflow');
  const engine = new Engine({ backend });
  const define = (name: Kind, run: (context: Context) => Promise<void>) =>
    engine.defineWorkflow({ name }, run);
  const stepOf =
    ({ step }: Context) =>
    (name: string, run: () => number) =>
      step.run({ name }, async () => run());
  const kinds: Record<Kind, Runnable> = {
    noop: define('noop', async ({ input }) => handlers.noop(input.input)),
    'five-steps': define('five-steps', (context) => handlers.fiveSteps(stepOf(context))),
    steps: define('steps', (context) => handlers.steps(context.input.input, stepOf(context))),
  };
  let worker: Worker | null = null;
  return {
    start: (kind, input) => kinds[kind].run({ input }),
    async work() {
      worker = engine.newWorker({ concurrency: CONCURRENCY });
      await worker.start();
    },
    left,
    async close() {
      await worker?.stop();
      await close();
    },
  };
}
