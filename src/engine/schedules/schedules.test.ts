import { expect, test } from 'vitest';
import { schedule, type ScheduleDeclaration } from '../../client/schedules.js';
import { task } from '../../client/task.js';
import type { CommitItem, Store } from '../../ports/store.js';
import { Link, T0 } from '../../testkit/index.js';
import { newCluster } from '../../../test/new-cluster.js';
import { onEveryStore } from '../../../test/on-every-store.js';
import { firingsOf, jobsOf, pass } from '../../../test/schedule-firings.js';

/** Hours pass in few rounds. */
const SLOW = { lease: '5h', poll: '10m' } as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const tick = task({ name: 'tick' }, ({ input }) => input);

const hourly: ScheduleDeclaration = { id: 'hourly', every: '1h', input: 1 };

onEveryStore((fresh) => {
  test('TSK-7 fires at its times, each time one job that says which firing it is', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], SLOW);
    await app.schedules.put(schedule(tick, hourly));
    await pass(cluster, 3 * HOUR + 60_000);
    expect(await firingsOf(cluster)).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
    const [first] = await jobsOf(cluster);
    const { found } = await cluster.store.load(first?.jobId ?? '');
    expect(found?.job).toMatchObject({
      status: 'succeeded',
      spec: {
        scheduleType: 'every',
        scheduledAt: T0 + HOUR,
        firedBy: { scheduleId: 'hourly', fireAt: T0 + HOUR },
      },
    });
    expect(found?.job.startedAt ?? 0).toBeGreaterThanOrEqual(T0 + HOUR);
    expect((found?.job.startedAt ?? 0) - T0 - HOUR).toBeLessThan(1_000);
  });

  test('TSK-7 many schedulers at once: every firing once', async () => {
    const cluster = await fresh.cluster();
    for (let n = 0; n < 5; n++) await cluster.join([tick], SLOW);
    const { app } = await cluster.join([tick], false);
    await app.schedules.put(schedule(tick, { ...hourly, every: '10m' }));
    await pass(cluster, 5 * HOUR + 60_000);
    expect(await firingsOf(cluster)).toEqual(Array.from({ length: 30 }, (_, n) => (n + 1) * 600_000));
  });

  test('TSK-7 a scheduler that dies between the job and its note of it fires nothing twice', async () => {
    const cluster = await fresh.cluster();
    const link = new Link(cluster.store);
    const dying = new Proxy(link.store, {
      get: (target, name: keyof Store) =>
        name !== 'commit'
          ? target[name]
          : async (items: readonly CommitItem[]) => {
              const reply = await target.commit(items);
              if (items.some(({ body }) => body.includes('firedBy'))) link.down = true;
              return reply;
            },
    });
    const { app } = await cluster.join([tick], false);
    // A claim of its worker may be under way while it dies: a first job that a dead one holds must not skip the second.
    await app.schedules.put(schedule(tick, { ...hourly, overlap: 'allow' }));
    await cluster.join([tick], SLOW, dying);
    await pass(cluster, HOUR + 60_000);
    expect(link.down).toBe(true);
    expect(await firingsOf(cluster)).toEqual([HOUR]);
    await cluster.join([tick], SLOW);
    // It looks every ten minutes from now on, and so a minute after the second hour at the earliest.
    await pass(cluster, HOUR + 10 * MINUTE);
    expect(await firingsOf(cluster)).toEqual([HOUR, 2 * HOUR]);
    link.down = false;
  });

  test('TSK-7 declared at every start: the same changes nothing, another time goes on from now', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], SLOW);
    const first = await app.schedules.put(schedule(tick, hourly));
    await pass(cluster, 90 * 60_000);
    const again = await app.schedules.put(schedule(tick, hourly));
    expect([again.createdAt, again.cursor]).toEqual([first.createdAt, T0 + 2 * HOUR]);
    const changed = await app.schedules.put(schedule(tick, { id: 'hourly', daily: '03:00', input: 1 }));
    expect(changed.version).toBeGreaterThan(again.version);
    expect(changed.timing).toEqual({ type: 'daily', time: '03:00', zone: 'UTC' });
    expect(await app.schedules.list()).toHaveLength(1);
  });

  test('TSK-7 paused it does nothing; resumed it goes on without what it missed; triggered it fires at once', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], SLOW);
    await app.schedules.put(schedule(tick, { ...hourly, catchUp: 'all' }));
    await app.schedules.pause('hourly');
    await pass(cluster, 3 * HOUR);
    expect(await firingsOf(cluster)).toEqual([]);
    const job = await app.schedules.trigger('hourly');
    await pass(cluster, 60_000);
    expect((await job.status()).status).toBe('succeeded');
    await app.schedules.resume('hourly');
    await pass(cluster, HOUR);
    expect(await firingsOf(cluster)).toEqual([3 * HOUR, 4 * HOUR]);
    await app.schedules.delete('hourly');
    await pass(cluster, 2 * HOUR);
    expect(await firingsOf(cluster)).toHaveLength(2);
    for (const word of ['get', 'pause', 'delete'] as const) {
      await expect(app.schedules[word]('hourly')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    }
  });

  test.each([
    ['all', [1, 2, 3, 4, 5, 6]],
    ['latest', [5, 6]],
    ['none', [6]],
  ] as const)('TSK-7 after five hours in which everything was down, catch-up %s', async (catchUp, hours) => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], false);
    await app.schedules.put(schedule(tick, { ...hourly, overlap: 'allow', catchUp }));
    cluster.clock.advance(5.5 * HOUR);
    await cluster.join([tick], SLOW);
    await pass(cluster, HOUR);
    expect(await firingsOf(cluster)).toEqual(hours.map((hour) => hour * HOUR));
  });

  test('TSK-7 a single time that was missed still comes, whatever the catch-up policy', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], false);
    await app.schedules.put(schedule(tick, { id: 'once', at: T0 + HOUR, catchUp: 'none', input: 1 }));
    cluster.clock.advance(DAY);
    await cluster.join([tick], SLOW);
    await pass(cluster, DAY);
    expect(await firingsOf(cluster)).toEqual([HOUR]);
  });

  test.each([
    ['allow', [1, 2, 3, 4], ['waiting', 'waiting', 'waiting', 'waiting']],
    ['skip', [1], ['waiting']],
    ['queue', [1], ['waiting']],
    ['cancel_running', [1, 2, 3, 4], ['cancelled', 'cancelled', 'cancelled', 'waiting']],
  ] as const)('TSK-7 while the job before is still live, overlap %s', async (overlap, minutes, states) => {
    const cluster = await fresh.cluster();
    const long = task({ name: 'long' }, ({ step }) => step.waitFor('end'));
    const { app } = await cluster.join([long], SLOW);
    await app.schedules.put(schedule(long, { ...hourly, every: '1m', overlap, catchUp: 'all' }));
    await pass(cluster, 4.5 * MINUTE);
    expect(await firingsOf(cluster)).toEqual(minutes.map((minute) => minute * MINUTE));
    expect((await jobsOf(cluster)).map(({ status }) => status)).toEqual(states);
    const [first] = await jobsOf(cluster);
    if (overlap === 'skip') expect((await app.schedules.get('hourly')).skipped).toBe(3);
    if (overlap === 'queue') {
      await app.job(first?.jobId ?? '').signal('end');
      await pass(cluster, 5_000);
      expect(await firingsOf(cluster)).toEqual([MINUTE, 2 * MINUTE]);
    }
  });

  test.each(['latest', 'none'] as const)(
    'TSK-7 overlap queue, catch-up %s: what waits for the job before it was not missed',
    async (catchUp) => {
      const cluster = await fresh.cluster();
      const long = task({ name: 'long' }, ({ step }) => step.sleep('work', '3m'));
      const { app } = await cluster.join([long], { lease: '5h', poll: '1m' });
      await app.schedules.put(schedule(long, { ...hourly, every: '1m', overlap: 'queue', catchUp }));
      await pass(cluster, 13.5 * MINUTE);
      expect(await firingsOf(cluster)).toEqual([1, 2, 3, 4].map((minute) => minute * MINUTE));
      expect((await app.schedules.get('hourly')).skipped).toBe(0);
    },
  );

  test('TSK-7 overlap queue: what was missed behind firings that wait is left out all the same', async () => {
    const cluster = await fresh.cluster();
    const long = task({ name: 'long' }, ({ step }) => step.waitFor('end'));
    const first = await cluster.join([long], { lease: '5h', poll: '1m' });
    await first.app.schedules.put(schedule(long, { ...hourly, every: '1m', overlap: 'queue' }));
    await pass(cluster, 2.5 * MINUTE);
    await first.stop();
    cluster.clock.advance(HOUR);
    const second = await cluster.join([long], { lease: '5h', poll: '1m' });
    for (let ends = 0; ends < 4; ends++) {
      await pass(cluster, 10_000);
      for (const { jobId, status } of await jobsOf(cluster)) {
        if (status === 'waiting') await second.app.job(jobId).signal('end');
      }
    }
    const fired = await firingsOf(cluster);
    expect(fired.slice(0, 2)).toEqual([MINUTE, 2 * MINUTE]);
    expect(fired[2]).toBeGreaterThanOrEqual(62 * MINUTE);
    expect((await second.app.schedules.get('hourly')).skipped).toBeGreaterThanOrEqual(58);
  });

  test.each<[string, Partial<ScheduleDeclaration>]>([
    ['overlap', { overlap: 'whatever' as 'skip' }],
    ['catchUp', { catchUp: 'some' as 'all' }],
    ['scheduleId', { id: 'not an id' }],
    ['cron', { every: undefined as never, cron: 'x' }],
    ['cron', { every: undefined as never, cron: '0 0 31 2 *' }],
  ])('TASK_INVALID_SCHEDULE names %s, and nothing is stored', async (field, bad) => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([tick], false);
    await expect(app.schedules.put(schedule(tick, { ...hourly, ...bad }))).rejects.toMatchObject({
      code: 'TASK_INVALID_SCHEDULE',
      details: { field },
    });
    expect(await app.schedules.list()).toEqual([]);
  });

  test('TSK-4 the deadline of its jobs may be shorter than the time to the next', async () => {
    const cluster = await fresh.cluster();
    const brief = task({ name: 'brief', deadline: '1m' }, () => undefined);
    const { app } = await cluster.join([brief], SLOW);
    await app.schedules.put(schedule(brief, { id: 'yearly', cron: '0 0 1 1 *', input: 1 }));
    await app.schedules.put(schedule(brief, hourly));
    await pass(cluster, HOUR + MINUTE);
    expect(await firingsOf(cluster)).toEqual([HOUR]);
    expect((await app.counts()).succeeded).toBe(1);
  });

  test('TSK-4 a schedule whose jobs could not be made is refused, and nothing is stored', async () => {
    const cluster = await fresh.cluster();
    const keyed = task(
      { name: 'keyed', concurrency: { key: () => 'k'.repeat(300), limit: 1 } },
      () => undefined,
    );
    const { app } = await cluster.join([keyed], false);
    await expect(app.schedules.put(schedule(keyed, hourly))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('concurrencyKey') as string,
    });
    expect(await app.schedules.list()).toEqual([]);
  });
});

/** In memory only: what a store adds to it is above. */
test('TSK-7 a year of schedules of every kind: no firing lost, doubled or early', async () => {
  const cluster = newCluster();
  const { app } = await cluster.join([tick], { lease: '20d', poll: '12h', concurrency: 500 });
  const kinds = {
    weekly: { cron: '30 7 * * MON', zone: 'Europe/Berlin' },
    daily: { daily: '02:30', zone: 'America/New_York' },
    often: { every: '36h' },
    monthly: { cron: '0 0 1 * *', zone: 'Australia/Lord_Howe' },
  } as const;
  for (const [id, when] of Object.entries(kinds)) {
    await app.schedules.put(schedule(tick, { id, ...when, overlap: 'allow', catchUp: 'all', input: id }));
  }
  await pass(cluster, 365 * DAY);
  const jobs = await Promise.all((await jobsOf(cluster)).map(({ jobId }) => cluster.store.load(jobId)));
  const counts = new Map<string, number[]>();
  for (const { found } of jobs) {
    const { scheduleId, fireAt } = found?.job.spec.firedBy ?? { scheduleId: '', fireAt: 0 };
    counts.set(scheduleId, [...(counts.get(scheduleId) ?? []), fireAt]);
    expect(found?.job.startedAt ?? 0).toBeGreaterThanOrEqual(fireAt);
    expect(found?.job.status).toBe('succeeded');
  }
  expect(Object.fromEntries([...counts].map(([id, times]) => [id, times.length]))).toEqual({
    weekly: 52,
    daily: 365,
    often: 243,
    monthly: 12,
  });
  for (const times of counts.values()) expect(new Set(times).size).toBe(times.length);
});

test('TSK-4 all schedules are listed, however many there are', async () => {
  const cluster = newCluster();
  const { app } = await cluster.join([tick], false);
  const one = await app.schedules.put(schedule(tick, hourly));
  const { schedule: row } = await cluster.store.schedule(one);
  if (row === null) throw new Error('there is one');
  for (let n = 0; n < 2_000; n++)
    await cluster.store.putSchedule({ ...row, scheduleId: `other-${n}`, version: 1 }, 0);
  expect(new Set((await app.schedules.list()).map(({ scheduleId }) => scheduleId)).size).toBe(2_001);
});
