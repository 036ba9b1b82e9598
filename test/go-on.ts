import { Pawl } from '../src/client/app.js';
import type { JobHandle } from '../src/client/job-handle.js';
import { retryAsNew } from '../src/engine/retry-as-new.js';
import type { Store } from '../src/ports/store.js';
import type { TestApp } from '../src/testkit/index.js';

/** The work of a job that has ended, by one that goes on with what is recorded. */
export async function goOn({ app }: Pick<TestApp, 'app'>, { id }: { id: string }): Promise<JobHandle> {
  const { engine } = Pawl.inside(app);
  const again = { tenantId: null, actor: 'operator:ann', newId: engine.newId(1), keepRecorded: true };
  return app.job((await retryAsNew(engine, id, again)).spec.jobId);
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

/** A store that takes its time for some of what it is asked. */
export function slowly(store: Store, slow: readonly (keyof Store)[], count: number): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as (...asked: unknown[]) => unknown;
      if (!slow.includes(name)) return method;
      return async (...asked: unknown[]) => {
        await turns(count);
        return method(...asked);
      };
    },
  });
}
