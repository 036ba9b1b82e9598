import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createKey, type Role } from '../../src/engine/api-keys.js';
import { serve, type Serving, type ServeOptions } from '../../src/http/serve.js';
import type { AnyTask } from '../../src/client/task.js';
import { Pawl, pawl, type PawlOptions, type WorkOptions } from '../../src/index.js';
import { storeFolder } from '../store-folder.js';

/** A server on a store, as remote workers find it. */
export type Ground = {
  /** The application behind the server; it runs no handlers. */
  readonly app: Pawl;
  readonly serving: Serving;
  readonly key: (tenantId?: string, role?: Role) => Promise<string>;
};

export const LEASE: WorkOptions = { lease: '10s', poll: '200ms', drain: 0, stopOnSignal: false };

export async function groundOn(
  store: PawlOptions['store'],
  options: ServeOptions & Pick<PawlOptions, 'clock' | 'random' | 'log'> = {},
): Promise<Ground> {
  const { clock, random, log, ...serving } = options;
  const app = await pawl({
    store,
    ...(clock ? { clock } : {}),
    ...(random ? { random } : {}),
    ...(log ? { log } : {}),
  });
  const { engine } = Pawl.inside(app);
  const served = await serve(app, { port: 0, ...serving });
  onTestFinished(async () => {
    await served.close();
    await app.close();
  });
  let keys = 0;
  return {
    app,
    serving: served,
    key: async (tenantId = 'acme', role = 'operator') =>
      (await createKey(engine, { tenantId, role, name: `key ${++keys}`, by: 'operator:test' })).token,
  };
}

/** A file that is there for as long as the test runs. */
export function sqliteUrl(): string {
  const folder = storeFolder('pawl-remote-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, 'pawl.db')}`;
}

/** An application that reaches its store through a server only. */
export async function remoteApp(
  url: string,
  { key, tasks, work = {} }: { key: string; tasks: readonly AnyTask[]; work?: WorkOptions | false },
): Promise<Pawl> {
  const app = await pawl({ store: url, key, tasks });
  onTestFinished(() => app.close());
  if (work !== false) await app.work({ ...LEASE, ...work });
  return app;
}
