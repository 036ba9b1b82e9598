import type { WorkOptions } from '../client/pawl.js';
import type { AnyTask } from '../client/task.js';
import { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, type FakeClock } from './fake-clock.js';
import { T0 } from './sample-job.js';
import { testApp, type TestApp } from './test-app.js';

/** Leases and polls as in production. */
const WORK: WorkOptions = { lease: '30s', poll: '1s' };

/** Several applications on one store, as if each were a process of its own. */
export class Cluster {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly #apps: TestApp[] = [];

  /** In memory, unless told otherwise. A store that is passed in must outlive each application. */
  constructor({ clock = fakeClock(T0), store }: { clock?: FakeClock; store?: Store } = {}) {
    this.clock = clock;
    this.store = store ?? { ...memoryStore({ clock }), close: async () => undefined };
  }

  /** Another process. `work` false: one that only asks. `via`: how it sees the store. */
  async join(
    tasks: readonly AnyTask[],
    work: WorkOptions | false = {},
    via: Store = this.store,
  ): Promise<TestApp> {
    const options = work === false ? false : { ...WORK, ...work };
    const seed = this.#apps.length + 1;
    const app = await testApp({ tasks, clock: this.clock, store: via, work: options, seed });
    this.#apps.push(app);
    return app;
  }

  async stop(): Promise<void> {
    for (const app of this.#apps) await app.stop();
  }
}

/** A way to a store that can be cut: while it is down, nothing gets through. */
export class Link {
  readonly store: Store;
  down = false;

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (target, name: keyof Store) => {
        const method = target[name] as (...asked: unknown[]) => unknown;
        if (name === 'wake' || name === 'listen' || name === 'close') return method;
        return async (...asked: unknown[]) => {
          if (this.down) throw new PawlError('STORE_UNAVAILABLE', { detail: 'the link is down' });
          return method(...asked);
        };
      },
    });
  }
}
