import { deepStrictEqual } from 'node:assert/strict';
import type { Topic } from './rig.js';

export const wakeUps: Topic = {
  name: 'wake-ups',
  cases: {
    'GUA-13 who listens hears what lanes have work, until it stops': async (rig) => {
      const heard: string[][] = [];
      const stop = rig.store.listen((lanes) => heard.push([...lanes]));
      rig.store.wake(['default']);
      await stop();
      rig.store.wake(['default']);
      deepStrictEqual(heard, [['default']]);
    },
  },
};
