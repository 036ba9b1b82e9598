import { pawl, type Pawl, type PawlOptions, type WorkOptions } from '../client/pawl.js';
import type { JobHandle } from '../client/job-handle.js';
import type { Job } from '../kernel/index.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, quiet, type AdvanceOptions } from './advance-until.js';
import { fakeClock, type FakeClock } from './fake-clock.js';
import { prng } from './prng.js';
import { T0 } from './sample-job.js';

export type TestAppOptions = Pick<
  PawlOptions,
  'tasks' | 'schedules' | 'hooks' | 'log' | 'courier' | 'retention' | 'alerts' | 'tracing'
> & {
  /** Memory, unless told otherwise. One that several apps share may be passed in. */
  readonly store?: Store;
  readonly clock?: FakeClock;
  readonly seed?: number;
  /** False: nobody works on the jobs. */
  readonly work?: WorkOptions | false;
};

/** An application under a clock that stands still until it is told to move. */
export type TestApp = {
  readonly app: Pawl;
  readonly clock: FakeClock;
  readonly store: Store;
  /** Moves time on, from one timer to the next, until `promise` settles. Throws if that takes too long. */
  readonly run: <T>(promise: Promise<T>, options?: AdvanceOptions) => Promise<T>;
  /** The job once it has ended, time moving on as with `run`. */
  readonly ended: (job: Pick<JobHandle, 'status'>, options?: AdvanceOptions) => Promise<Job>;
  /** Lets everything run that needs no time to pass. */
  readonly idle: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Long, so that a month passes in a few hundred rounds; what is due sooner is told to the loops anyway. */
const WORK: WorkOptions = { lease: '1d', poll: '1h', stopOnSignal: false };
/** Enough turns of the event loop for one commit to travel through all layers and back. */
const TURNS = 12;

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export async function testApp(options: TestAppOptions): Promise<TestApp> {
  const { tasks = [], schedules = [], hooks = {}, log = silent, work = {} } = options;
  const clock = options.clock ?? fakeClock(T0);
  const store = options.store ?? memoryStore({ clock });
  const { courier, retention, alerts, tracing } = options;
  const app = await pawl({
    store,
    tasks,
    schedules,
    hooks,
    log,
    clock,
    random: prng(options.seed ?? 1),
    ...(courier ? { courier } : {}),
    ...(retention ? { retention } : {}),
    ...(tracing ? { tracing } : {}),
    ...(alerts === undefined ? {} : { alerts }),
  });
  if (work !== false) await app.work({ ...WORK, ...work });
  const run = <T>(promise: Promise<T>, within: AdvanceOptions = {}) => advanceUntil(clock, promise, within);
  return {
    app,
    clock,
    store,
    run,
    idle: () => quiet(clock, TURNS),
    async ended(job, within = {}) {
      await advanceUntil(clock, async () => (await job.status()).finishedAt !== null, within);
      return job.status();
    },
    stop: () => run(app.close()),
  };
}
