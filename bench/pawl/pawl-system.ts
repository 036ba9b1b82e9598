import type { AnyTask } from '../../src/client/task.js';
import { pawl, task, type Pawl, type Task } from '../../src/index.js';
import type { Handlers, Kind, System } from '../workloads/system.js';

const nothing = (): void => undefined;
/** That a store in memory is not for ever need not be said here. */
export const quiet = { debug: nothing, info: nothing, warn: nothing, error: console.error };

/** As docs/performance.md advises: on SQLite what is in flight at once fits into one group of commits. */
const crowdOn = (url: string): number => (url.startsWith('sqlite:') ? 500 : 1_000);
const concurrency = (kind: Kind, url: string): number => (kind === 'steps' ? 50 : crowdOn(url));

const unfinished = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0) - (counts['succeeded'] ?? 0);

/** An application that is used as the workloads use every system. */
export async function pawlSystem(url: string, handlers: Handlers): Promise<System> {
  const tasks: Record<Kind, Task<string, unknown>> = {
    noop: task({ name: 'noop' }, ({ input }) => handlers.noop(input as string)),
    'five-steps': task({ name: 'five-steps' }, ({ step }) =>
      handlers.fiveSteps((name, run) => step.run(name, run)),
    ),
    steps: task({ name: 'steps' }, ({ input, step }) =>
      handlers.steps(input as string, (name, run) => step.run(name, run)),
    ),
  };
  const app = await pawl({ store: url, tasks: Object.values(tasks), log: quiet });
  return {
    start: (kind, input) => app.start(tasks[kind], input),
    startMany: (kind, inputs) =>
      app.startMany(
        tasks[kind],
        inputs.map((input) => ({ input })),
      ),
    work: (kind) => app.work({ concurrency: concurrency(kind, url), stopOnSignal: false, drain: 0 }),
    stop: () => app.stop(),
    left: async () => unfinished(await app.counts()),
    close: () => app.close(),
  };
}

/** For what only Pawl is asked: an application with tasks of one's own, closed afterwards. */
export async function withPawl<T>(
  url: string,
  tasks: readonly AnyTask[],
  use: (app: Pawl) => Promise<T>,
): Promise<T> {
  const app = await pawl({ store: url, tasks, log: quiet });
  try {
    return await use(app);
  } finally {
    await app.close();
  }
}
