import { expect, test } from 'vitest';
import { schedule, type ScheduleDeclaration } from '../../client/schedules.js';
import { task } from '../../client/task.js';
import { T0, type Cluster } from '../../testkit/index.js';
import { onEveryStore } from '../../../test/on-every-store.js';
import { firingsOf, jobsOf, pass } from '../../../test/schedule-firings.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Hours pass in few rounds. */
const SLOW = { lease: '5h', poll: '10m' } as const;

const tick = task({ name: 'tick' }, ({ input }) => input);
const tickMore = task({ name: 'tick', retry: { maxRetries: 7 } }, ({ input }) => input);
const long = task({ name: 'long' }, ({ step }) => step.waitFor('end'));

const hourly: ScheduleDeclaration = { id: 'hourly', every: '1h', overlap: 'allow', input: 1 };
const queued: ScheduleDeclaration = { id: 'queued', every: '1m', overlap: 'queue', input: 1 };

const minutes = (...all: number[]): number[] => all.map((minute) => minute * MINUTE);

/** Ends the jobs that wait for it, one after the other. */
async function endAll(cluster: Cluster, rounds: number): Promise<void> {
  const { app } = await cluster.join([long], false);
  for (let round = 0; round < rounds; round++) {
    for (const { jobId, status } of await jobsOf(cluster)) {
      if (status === 'waiting') await app.job(jobId).signal('end');
    }
    await pass(cluster, 5_000);
  }
}

onEveryStore((fresh) => {
  test.each([
    ['all', [1, 2, 3, 4, 5, 6]],
    ['latest', [5, 6]],
    ['none', [6]],
  ] as const)(
    'TSK-7 changed while everything was down, with the same times: catch-up %s is of all that was missed',
    async (catchUp, hours) => {
      for (const [changed, change] of [
        [tick, { input: 2 }],
        [tickMore, {}],
        [tick, { overlap: 'queue' }],
      ] as const) {
        const cluster = await fresh.cluster();
        const { app } = await cluster.join([tick], false);
        const first = await app.schedules.put(schedule(tick, { ...hourly, catchUp }));
        cluster.clock.advance(5.5 * HOUR);
        const next = await cluster.join([changed], false);
        const put = await next.app.schedules.put(schedule(changed, { ...hourly, catchUp, ...change }));
        expect([put.version, put.cursor]).toEqual([first.version + 1, T0 + HOUR]);
        await cluster.join([changed], SLOW);
        await pass(cluster, HOUR);
        expect(await firingsOf(cluster)).toEqual(hours.map((hour) => hour * HOUR));
        expect((await app.schedules.get('hourly')).skipped).toBe(6 - hours.length);
      }
    },
  );

  test('TSK-7 another policy is of what was missed before it, too', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], false);
    await app.schedules.put(schedule(tick, { ...hourly, catchUp: 'none' }));
    cluster.clock.advance(3.5 * HOUR);
    await app.schedules.put(schedule(tick, { ...hourly, catchUp: 'all' }));
    await cluster.join([tick], SLOW);
    await pass(cluster, MINUTE);
    expect(await firingsOf(cluster)).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
  });

  test('TSK-7 with other times it goes on from now', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], false);
    await app.schedules.put(schedule(tick, { ...hourly, catchUp: 'all' }));
    cluster.clock.advance(3.5 * HOUR);
    await app.schedules.put(schedule(tick, { ...hourly, every: '2h', catchUp: 'all' }));
    await cluster.join([tick], SLOW);
    await pass(cluster, HOUR);
    expect(await firingsOf(cluster)).toEqual([4 * HOUR]);
  });

  test('TSK-7 a single time that has come does not come again with another input', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], SLOW);
    await app.schedules.put(schedule(tick, { id: 'once', at: T0 + HOUR, input: 1 }));
    await pass(cluster, 2 * HOUR);
    const put = await app.schedules.put(schedule(tick, { id: 'once', at: T0 + HOUR, input: 2 }));
    expect([put.cursor, put.nextFireAt, put.input]).toEqual([null, null, '2']);
    await pass(cluster, HOUR);
    expect(await firingsOf(cluster)).toEqual([HOUR]);
  });

  test('TSK-7 overlap queue: what waited when it was paused takes place once it is resumed, and soon', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([long], { lease: '5h', poll: '1m' });
    // The next after these is a day away.
    await app.schedules.put(schedule(long, { ...queued, every: undefined as never, cron: '1-10 12 * * *' }));
    await pass(cluster, 3.5 * MINUTE);
    await app.schedules.pause('queued');
    await pass(cluster, 10 * MINUTE);
    await app.schedules.resume('queued');
    await endAll(cluster, 4);
    expect(await firingsOf(cluster)).toEqual(minutes(1, 2, 3));
    expect(await app.schedules.get('queued')).toMatchObject({ waiting: [], skipped: 0 });
  });

  test('TSK-7 overlap queue: what waits still does with another input; with other times it is left out, and counted', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([long], { lease: '5h', poll: '1m' });
    await app.schedules.put(schedule(long, queued));
    await pass(cluster, 4.5 * MINUTE);
    const other = await app.schedules.put(schedule(long, { ...queued, input: 'other' }));
    expect([other.waiting, other.skipped]).toEqual([minutes(2, 3, 4).map((at) => T0 + at), 0]);
    await endAll(cluster, 1);
    expect(await firingsOf(cluster)).toEqual(minutes(1, 2));
    const anew = await app.schedules.put(schedule(long, { ...queued, every: '1h' }));
    expect([anew.waiting, anew.skipped]).toEqual([[], 2]);
  });
});
