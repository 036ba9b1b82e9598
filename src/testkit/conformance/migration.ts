import { deepStrictEqual, equal } from 'node:assert/strict';
import type { Topic } from './rig.js';

/** Whoever opens a store brings its schema up to date: for the first time, once again, or at the same time as others. */
export const migration: Topic = {
  name: 'migration',
  cases: {
    'opened again, the store holds what it held, link by link': async (rig) => {
      await rig.running('job_kept');
      const before = await rig.load('job_kept');
      const log = await rig.store.log('job_kept', { fromRev: 1, limit: 10 });
      const other = await rig.connect();
      deepStrictEqual((await other.load('job_kept')).found, before);
      deepStrictEqual((await other.log('job_kept', { fromRev: 1, limit: 10 })).rows, log.rows);
    },
    'many that open a store at once all get one that works, and it is the same one': async (rig) => {
      const stores = await Promise.all(Array.from({ length: 6 }, () => rig.connect('new')));
      const [first] = stores;
      const made = await rig.prepare('job_first', rig.createCommand('job_first'));
      deepStrictEqual((await first?.commit([made]))?.replies, [{ ok: true, repeated: false }]);
      for (const store of stores) equal((await store.load('job_first')).found?.job.rev, 1);
    },
    'one that closes leaves the others alone': async (rig) => {
      const [leaving, staying] = [await rig.connect('shared'), await rig.connect('shared')];
      const made = await rig.prepare('job_stays', rig.createCommand('job_stays'));
      await leaving.commit([made]);
      await rig.disconnect(leaving);
      equal((await staying.load('job_stays')).found?.job.rev, 1);
    },
  },
};
