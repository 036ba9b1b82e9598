import { expect, test } from 'vitest';
import { schedule } from '../../client/schedules.js';
import { task } from '../../client/task.js';
import type { Store } from '../../ports/store.js';
import { advanceUntil, type FakeClock } from '../../testkit/index.js';
import { newCluster } from '../../../test/new-cluster.js';
import { onEveryStore } from '../../../test/on-every-store.js';
import { firingsOf, pass } from '../../../test/schedule-firings.js';
import { CATCH_UP_POLICIES } from './schedule.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Hours pass in few rounds. */
const SLOW = { lease: '5h', poll: '10m' } as const;

const tick = task({ name: 'tick' }, ({ input }) => input);
const seconds = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => (from + index) * SECOND);

/** A store that takes its time to say which schedules are due. */
function slow(store: Store, clock: FakeClock, waits: readonly number[]): Store {
  const left = [...waits];
  return new Proxy(store, {
    get: (target, name: keyof Store) =>
      name !== 'dueSchedules'
        ? target[name]
        : async (page: { limit: number }) => {
            const ms = left.shift();
            if (ms !== undefined) await new Promise<void>((resolve) => void clock.after(ms, resolve));
            return target.dueSchedules(page);
          },
  });
}

onEveryStore((fresh) => {
  test.each(CATCH_UP_POLICIES)(
    'TSK-7 nothing due is dropped under back-pressure, whatever is missed when nobody is there: catch-up %s',
    async (catchUp) => {
      const cluster = await fresh.cluster();
      const { app } = await cluster.join(
        [tick],
        {},
        slow(cluster.store, cluster.clock, [0, 2_500, 2_500, 40_000]),
      );
      await app.schedules.put(
        schedule(tick, { id: 'often', every: '1s', overlap: 'allow', catchUp, input: 1 }),
      );
      await pass(cluster, MINUTE + SECOND / 2);
      expect(await firingsOf(cluster)).toEqual(seconds(1, 60));
      expect((await app.schedules.get('often')).skipped).toBe(0);
    },
  );
});

/** Until 16:00, or for ever; everything is down until 17:00. */
test.each([
  ['latest', '* * 12-15 * * *', [4 * HOUR - SECOND]],
  ['none', '* * 12-15 * * *', []],
  ['latest', '* * * * * *', seconds(5 * 3_600 - 60, 5 * 3_600)],
  ['none', '* * * * * *', seconds(5 * 3_600 - 60, 5 * 3_600)],
] as const)(
  'TSK-7 hours of seconds that were missed are gone through some at a time: catch-up %s, %s',
  async (catchUp, cron, fired) => {
    const cluster = newCluster();
    const { app } = await cluster.join([tick], false);
    await app.schedules.put(schedule(tick, { id: 'often', cron, overlap: 'allow', catchUp, input: 1 }));
    cluster.clock.advance(5 * HOUR);
    const { app: worker } = await cluster.join([tick], SLOW);
    const often = () => worker.schedules.get('often');
    await advanceUntil(cluster.clock, async () => ((await often()).cursor ?? 0) > cluster.clock.now());
    await worker.schedules.pause('often');
    expect(await firingsOf(cluster)).toEqual(fired);
    const { skipped, version } = await often();
    const missed = cron === '* * * * * *' ? 5 * 3_600 : 4 * 3_600 - 1;
    expect(skipped).toBe(missed - fired.length);
    expect(version).toBeGreaterThan(14);
  },
);
