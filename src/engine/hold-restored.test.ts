import { expect, test } from 'vitest';
import { Pawl } from '../client/pawl.js';
import { schedule } from '../client/schedules.js';
import { task } from '../client/task.js';
import { T0, type Cluster } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';
import { firingsOf, jobsOf, pass } from '../../test/schedule-firings.js';
import { holdRestored } from './hold-restored.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EVERYTHING = { tasks: null, except: [], by: 'ann' } as const;

const tick = task({ name: 'tick' }, ({ input }) => input);
const endless = task({ name: 'endless' }, ({ step }) => step.sleep('long', '1h'));

/** As an operator does it, before any worker starts. */
async function restored(cluster: Cluster) {
  const { app } = await cluster.join([], false);
  return { app, report: await holdRestored(Pawl.inside(app).engine, EVERYTHING) };
}

test.each(['all', 'latest', 'none'] as const)(
  'TSK-7 a restored schedule that is due makes no firing until it is resumed, and then only new ones: catch-up %s',
  async (catchUp) => {
    const cluster = newCluster();
    const { app: before } = await cluster.join([tick], false);
    await before.schedules.put(schedule(tick, { id: 'hourly', every: '1h', catchUp, input: 1 }));
    await before.schedules.put(schedule(tick, { id: 'monthly', every: '30d', catchUp, input: 1 }));
    await pass(cluster, 3.5 * HOUR);

    const { app, report } = await restored(cluster);
    expect(report.pausedSchedules).toEqual([
      { tenantId: 'default', scheduleId: 'hourly', task: 'tick', dueAt: T0 + HOUR },
    ]);
    await cluster.join([tick]);
    await pass(cluster, HOUR);
    expect(await jobsOf(cluster)).toEqual([]);
    await app.schedules.resume('hourly');
    await pass(cluster, HOUR);
    expect(await firingsOf(cluster)).toEqual([5 * HOUR]);
  },
);

test('TSK-7 a restored single time that has come fires when it is resumed', async () => {
  const cluster = newCluster();
  const { app: before } = await cluster.join([tick], false);
  await before.schedules.put(schedule(tick, { id: 'bill', at: T0 + HOUR, input: 1 }));
  await pass(cluster, 2 * HOUR);

  const { app } = await restored(cluster);
  await cluster.join([tick]);
  // Every process puts its schedules when it starts.
  await app.schedules.put(schedule(tick, { id: 'bill', at: T0 + HOUR, input: 1 }));
  await pass(cluster, HOUR);
  expect(await jobsOf(cluster)).toEqual([]);
  await app.schedules.resume('bill');
  await pass(cluster, HOUR);
  expect(await firingsOf(cluster)).toEqual([HOUR]);
});

test('TSK-7 a restored schedule with a firing that waits for the job before it is paused', async () => {
  const cluster = newCluster();
  const { app: before } = await cluster.join([endless]);
  await before.schedules.put(schedule(endless, { id: 'queue', every: '1m', overlap: 'queue', input: 1 }));
  await pass(cluster, 2.5 * MINUTE);

  const { report } = await restored(cluster);
  expect(report.pausedSchedules).toMatchObject([{ scheduleId: 'queue', dueAt: T0 + 2 * MINUTE }]);
  expect(report).toMatchObject({ held: 1, heldByTask: { endless: 1 }, leftByTask: {} });
});

test.each([false, true])(
  'TSK-7 what waited in a restored schedule may have taken place, and is left out (paused before: %s)',
  async (paused) => {
    const cluster = newCluster();
    const { app: before } = await cluster.join([endless]);
    await before.schedules.put(schedule(endless, { id: 'queue', every: '1m', overlap: 'queue', input: 1 }));
    await pass(cluster, 3.5 * MINUTE);
    if (paused) await before.schedules.pause('queue');
    const { app, report } = await restored(cluster);
    expect(report.pausedSchedules).toHaveLength(paused ? 0 : 1);
    expect(await app.schedules.get('queue')).toMatchObject({ paused: true, waiting: [], skipped: 2 });
  },
);
