import { openStore } from '../client/open-store.js';
import { pawl, type Pawl, type WorkOptions } from '../client/pawl.js';
import { systemClock } from '../client/system-clock.js';
import { PawlError } from '../errors.js';
import { openDatabase, type Database } from '../stores/sqlite/driver.js';
import { lateTask } from './late-task.js';
import { orderTasks } from './order-task.js';
import { pointedStore } from './pointed-store.js';
import { Points, type Armed } from './points.js';
import { bearWitness, JOB_FOUND, JOB_GONE } from './witness.js';

export type Order =
  | { readonly work: string; readonly options: WorkOptions; readonly armed: Armed }
  | {
      readonly signal: { readonly store: string; readonly jobId: string; readonly key: string };
      readonly payload: unknown;
      readonly armed: Armed;
    }
  /** Works on a store in its own memory: on a job that it starts there, or after it has said whether that job is there. */
  | {
      readonly memory: { readonly jobId: string; readonly witness: string };
      readonly starts: boolean;
      readonly options: WorkOptions;
      readonly armed: Armed;
    }
  /** Only answers, once it has loaded what it needs. */
  | { readonly ready: true }
  /** Takes the one lock of a SQLite file, in a transaction that it never ends. */
  | { readonly lock: string };

const points = new Points();
/** Kept for as long as the process lives: one that is collected as garbage lets go of its lock. */
let locked: Database | null = null;

/** What a process of the matrix does: as it is told by its parent, and no longer than that lives. */
export function obeyOrders(): Promise<never> {
  process.on('message', (order: Order) => {
    void obey(order).then(() => process.send?.('done'));
  });
  process.on('disconnect', () => process.exit());
  return new Promise(() => undefined);
}

async function obey(order: Order): Promise<void> {
  if ('ready' in order) return;
  if ('lock' in order) {
    locked = await openDatabase(order.lock);
    // Something must stand in the log of the file that is never committed.
    locked.exec(
      'PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE; CREATE TABLE never_committed (n INTEGER) STRICT',
    );
    return;
  }
  points.arm(order.armed);
  const { order: buy, ship } = orderTasks(points);
  const tasks = [buy, ship, lateTask(points)];
  if ('memory' in order) {
    const { jobId, witness } = order.memory;
    const own = await pawl({ store: 'memory:', tasks, alerts: false });
    await own.work(order.options);
    if (order.starts) await own.start(buy, { witness }, { jobId });
    else bearWitness(witness, (await isThere(own, jobId)) ? JOB_FOUND : JOB_GONE);
    return;
  }
  const url = 'work' in order ? order.work : order.signal.store;
  const store = pointedStore(await openStore(url, { clock: systemClock }), points);
  const app = await pawl({ store, tasks, alerts: false });
  if ('work' in order) await app.work(order.options);
  else await app.job(order.signal.jobId).signal(order.signal.key, order.payload);
}

async function isThere(app: Pawl, jobId: string): Promise<boolean> {
  try {
    await app.job(jobId).status();
    return true;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'JOB_NOT_FOUND') return false;
    throw error;
  }
}
