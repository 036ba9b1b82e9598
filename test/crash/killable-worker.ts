/** A worker as its parent wants it, which is killed at one point, or from outside. */
import { openStore } from '../../src/client/open-store.js';
import { systemClock } from '../../src/client/system-clock.js';
import { pawl, type WorkOptions } from '../../src/index.js';
import { orderTasks } from '../../src/matrix/order-task.js';
import { pointedStore } from '../../src/matrix/pointed-store.js';
import { Points, type Armed } from '../../src/matrix/points.js';
import { neighbour, patient, poison, sending, stalled } from './crash-tasks.js';

export type Order =
  | { readonly work: string; readonly options: WorkOptions; readonly armed: Armed }
  | { readonly arm: Armed };

const points = new Points();

async function obey(order: Order): Promise<void> {
  if ('arm' in order) {
    points.arm(order.arm);
    return;
  }
  points.arm(order.armed);
  const { order: buy, ship } = orderTasks(points);
  const store = pointedStore(await openStore(order.work, { clock: systemClock }), points);
  const tasks = [buy, ship, stalled, patient, sending, poison, neighbour];
  const app = await pawl({ store, tasks });
  await app.work(order.options);
}

process.on('message', (order: Order) => {
  void obey(order).then(() => process.send?.('done'));
});
// Nobody is left to kill it.
process.on('disconnect', () => process.exit());
