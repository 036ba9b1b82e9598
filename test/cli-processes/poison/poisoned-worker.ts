/** A worker, as its parent wants it, which does not survive some of its tasks. */
import { pawl, type WorkOptions } from '../../../src/index.js';
import { endlessLoop, heapBomb, neighbour } from './poison-tasks.js';

export type Order = { readonly store: string; readonly work: WorkOptions };

process.on('message', ({ store, work }: Order) => {
  void pawl({ store, tasks: [endlessLoop, heapBomb, neighbour] })
    .then((app) => app.work(work))
    .then(() => process.send?.('done'));
});
// Nobody is left to kill it.
process.on('disconnect', () => process.exit());
