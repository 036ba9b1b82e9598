import { deepStrictEqual, equal } from 'node:assert/strict';
import type { RecordPut, Schedule, ScheduleRef } from '../../ports/store.js';
import { command } from '../sample-commands.js';
import { T0 } from '../sample-job.js';
import type { Topic } from './rig.js';

const schedule = (scheduleId: string, changes: Partial<Schedule> = {}): Schedule => ({
  tenantId: 'acme',
  scheduleId,
  version: 1,
  nextFireAt: T0 + 100,
  body: '{"cron":"* * * * *"}',
  ...changes,
});

export const schedules: Topic = {
  name: 'schedules',
  cases: {
    'a change counts only if it was made on what is there': async (rig) => {
      const { store } = rig;
      equal((await store.putSchedule(schedule('s'), 1)).saved, false);
      equal((await store.putSchedule(schedule('s'), 0)).saved, true);
      equal((await store.putSchedule(schedule('s'), 0)).saved, false);
      const moved = schedule('s', { version: 2, nextFireAt: T0 + 200 });
      equal((await store.putSchedule(moved, 1)).saved, true);
      equal((await store.putSchedule(schedule('s', { version: 2 }), 1)).saved, false);
      deepStrictEqual((await store.schedules({ tenantId: null, after: null, limit: 10 })).schedules, [moved]);
    },
    'TSK-7 of changes that come together each counts as if it had come alone': async (rig) => {
      const { store } = rig;
      await store.putSchedule(schedule('old'), 0);
      const put = async (row: Schedule, expected: number) => (await store.putSchedule(row, expected)).saved;
      const saved = await Promise.all([
        put(schedule('old', { version: 2 }), 1),
        put(schedule('new'), 0),
        put(schedule('old', { version: 2, body: '"lost"' }), 1),
        put(schedule('new', { version: 2, nextFireAt: null }), 1),
        put(schedule('nobody', { version: 2 }), 1),
        put(schedule('old', { version: 3, body: '"last"' }), 2),
      ]);
      deepStrictEqual(saved, [true, true, false, true, false, true]);
      deepStrictEqual((await store.schedules({ tenantId: null, after: null, limit: 10 })).schedules, [
        schedule('new', { version: 2, nextFireAt: null }),
        schedule('old', { version: 3, body: '"last"' }),
      ]);
    },
    'TSK-5 a new schedule and what it is known by are saved together, or neither is': async (rig) => {
      const { store } = rig;
      const known = (version: number, id = 'k') => ({
        record: { kind: 'task_key', tenantId: 'acme', id, version, body: `${version}` } as const,
        expected: version - 1,
      });
      const put = async (id: string, record: RecordPut) =>
        (await store.putSchedule(schedule(id), 0, record)).saved;
      const left = async () => [
        (await store.schedules({ tenantId: null, after: null, limit: 10 })).schedules.map(
          ({ scheduleId }) => scheduleId,
        ),
        (await store.record(known(1).record)).record?.body ?? null,
      ];
      equal(await put('a', known(2)), false);
      deepStrictEqual(await left(), [[], null]);
      equal(await put('a', known(1)), true);
      equal(await put('b', known(1)), false);
      equal(await put('a', known(2)), false);
      deepStrictEqual(await left(), [['a'], '1']);
      equal(await put('b', known(2)), true);
      deepStrictEqual(await left(), [['a', 'b'], '2']);

      const other = await rig.connect();
      const rush = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? other : store).putSchedule(schedule(`rush${n}`), 0, known(1, 'rush')),
        ),
      );
      equal(rush.filter(({ saved }) => saved).length, 1);
      equal((await store.schedules({ tenantId: null, after: null, limit: 30 })).schedules.length, 3);
    },
    'TSK-7 two that save the same ones, in whatever order: of each one counts': async (rig) => {
      const stores = [rig.store, await rig.connect()];
      const names = Array.from({ length: 100 }, (_, n) => `s${n}`);
      for (const expected of [0, 1]) {
        const saved = await Promise.all(
          stores.map((store, n) => {
            const order = n === 0 ? names : names.toReversed();
            const rows = order.map((name) => schedule(name, { version: expected + 1, body: `"${n}"` }));
            return Promise.all(rows.map((row) => store.putSchedule(row, expected)));
          }),
        );
        equal(saved.flat().filter((reply) => reply.saved).length, names.length);
      }
      const { schedules: found } = await rig.store.schedules({ tenantId: null, after: null, limit: 200 });
      deepStrictEqual(new Set(found.map(({ version }) => version)), new Set([2]));
    },
    'what is due is found, longest due first; what is paused never is': async (rig) => {
      const { store } = rig;
      await store.putSchedule(schedule('b', { nextFireAt: T0 + 50 }), 0);
      await store.putSchedule(schedule('a'), 0);
      await store.putSchedule(schedule('c', { nextFireAt: T0 + 500 }), 0);
      await store.putSchedule(schedule('d', { nextFireAt: null }), 0);
      rig.clock.advance(100);
      const { schedules: due } = await store.dueSchedules({ limit: 10 });
      deepStrictEqual(
        due.map(({ scheduleId }) => scheduleId),
        ['b', 'a'],
      );
    },
    'they are listed by tenant and id, page by page': async (rig) => {
      const { store } = rig;
      const names = ['a', 'b', 'B', 'a.1', 'a-1', 'c'];
      for (const tenantId of ['globex', 'acme'])
        for (const name of names) await store.putSchedule(schedule(name, { tenantId }), 0);
      const listed = async (tenantId: string | null) => {
        const all: string[] = [];
        for (let after: ScheduleRef | null = null; ;) {
          const { schedules: part } = await store.schedules({ tenantId, after, limit: 4 });
          all.push(...part.map((one) => `${one.tenantId} ${one.scheduleId}`));
          after = part.at(-1) ?? null;
          if (part.length < 4) return all;
        }
      };
      const all = await listed(null);
      deepStrictEqual(all.map((one) => one.split(' ')[0]).slice(5, 7), ['acme', 'globex']);
      equal(new Set(all).size, 12);
      deepStrictEqual(
        await listed('globex'),
        all.filter((one) => one.startsWith('globex')),
      );
    },
    'tenants have their own': async (rig) => {
      const { store } = rig;
      await store.putSchedule(schedule('s'), 0);
      await store.putSchedule(schedule('s', { tenantId: 'globex' }), 0);
      equal((await store.schedules({ tenantId: 'globex', after: null, limit: 10 })).schedules.length, 1);
      equal((await store.deleteSchedule({ tenantId: 'globex', scheduleId: 's' })).deleted, true);
      equal((await store.deleteSchedule({ tenantId: 'globex', scheduleId: 's' })).deleted, false);
      equal((await store.schedules({ tenantId: 'acme', after: null, limit: 10 })).schedules.length, 1);
    },
  },
};

const entry = (entryId: string, dueAt = T0) => ({
  entryId,
  kind: 'callback' as const,
  dueAt,
  body: `{"id":"${entryId}"}`,
});

export const records: Topic = {
  name: 'records',
  cases: {
    'a record is saved by whoever saw its latest version, and found by its kind, tenant and id': async (
      rig,
    ) => {
      const { store } = rig;
      const key = { kind: 'key', tenantId: 'acme', id: 'k1' } as const;
      const put = (version: number, body: string) => store.putRecord({ ...key, version, body }, version - 1);
      equal((await store.record(key)).record, null);
      equal((await put(1, '1')).saved, true);
      equal((await put(1, '2')).saved, false);
      equal((await put(2, '3')).saved, true);
      equal((await put(2, '4')).saved, false);
      deepStrictEqual((await store.record(key)).record, { ...key, version: 2, body: '3' });
      equal((await store.record({ ...key, kind: 'audit' })).record, null);
      equal((await store.deleteRecord(key)).deleted, true);
      equal((await store.deleteRecord(key)).deleted, false);
    },
    'records of a kind are listed by tenant and id, page by page': async (rig) => {
      const { store } = rig;
      for (const [tenantId, id] of [
        ['b', '1'],
        ['a', '2'],
        ['a', '1'],
        ['b', '0'],
      ] as const) {
        await store.putRecord({ kind: 'audit', tenantId, id, version: 1, body: '1' }, 0);
      }
      await store.putRecord({ kind: 'key', tenantId: 'a', id: '3', version: 1, body: '1' }, 0);
      const page = async (tenantId: string | null, after: { tenantId: string; id: string } | null) =>
        (await store.records({ kind: 'audit', tenantId, after, limit: 3 })).records.map(
          (one) => one.tenantId + one.id,
        );
      deepStrictEqual(await page(null, null), ['a1', 'a2', 'b0']);
      deepStrictEqual(await page(null, { tenantId: 'b', id: '0' }), ['b1']);
      deepStrictEqual(await page('b', null), ['b0', 'b1']);
    },
  },
};

export const outbox: Topic = {
  name: 'outbox',
  cases: {
    'an entry is there with the commit that made it, and not without': async (rig) => {
      await rig.create('job_out_1', {}, { outbox: [entry('e1')] });
      const refused = await rig.prepare('job_out_1', command('cancel'), { outbox: [entry('e2')] });
      await rig.store.commit([{ ...refused, rev: refused.rev + 1 }]);
      const { entries } = await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 });
      deepStrictEqual(entries, [{ ...entry('e1'), jobId: 'job_out_1', tries: 1 }]);
    },
    'an entry is taken by one, and again if that one does not settle it in time': async (rig) => {
      await rig.create('job_out_2', {}, { outbox: [entry('e3'), entry('e4', T0 + 5_000)] });
      const take = async () =>
        (await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 })).entries;
      equal((await take()).length, 1);
      deepStrictEqual(await take(), []);
      rig.clock.advance(1_000);
      deepStrictEqual(
        (await take()).map(({ entryId, tries }) => [entryId, tries]),
        [['e3', 2]],
      );
      await rig.store.settleOutbox([{ entryId: 'e3', outcome: 'done' }]);
      rig.clock.advance(10_000);
      deepStrictEqual(
        (await take()).map(({ entryId }) => entryId),
        ['e4'],
      );
    },
    'mail that comes with a record is there with it, once, and not without': async (rig) => {
      const { store } = rig;
      const alert = { kind: 'alert', tenantId: 'acme', id: 'a' } as const;
      const put = async (version: number, ...mail: string[]) =>
        (
          await store.putRecord(
            { ...alert, version, body: `${version}` },
            version - 1,
            mail.map((id) => entry(id)),
          )
        ).saved;
      const take = async () =>
        (await store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 })).entries;
      deepStrictEqual(
        [await put(1, 'r1', 'r2'), await put(1, 'r3'), await put(3, 'r4')],
        [true, false, false],
      );
      deepStrictEqual(
        await take(),
        ['r1', 'r2'].map((id) => ({ ...entry(id), jobId: null, tries: 1 })),
      );
      // An entry that is there already stays as it is: still taken, and tried once.
      equal(await put(2, 'r1', 'r5'), true);
      deepStrictEqual(
        (await take()).map(({ entryId }) => entryId),
        ['r5'],
      );
      await store.settleOutbox([{ entryId: 'r1', outcome: 'dead' }]);
      deepStrictEqual((await store.deadOutbox({ kind: 'callback', limit: 9 })).entries, [
        { ...entry('r1'), dueAt: 0, jobId: null, tries: 1 },
      ]);
      deepStrictEqual((await store.record(alert)).record, { ...alert, version: 2, body: '2' });
    },
    'of writers of one version of a record at once, one’s mail is there': async (rig) => {
      const stores = await Promise.all(Array.from({ length: 8 }, () => rig.connect()));
      const saved = await Promise.all(
        stores.map(async (store, n) => {
          const record = { kind: 'alert', tenantId: 'acme', id: 'a', version: 1, body: `${n}` } as const;
          return (await store.putRecord(record, 0, [entry(`race-${n}`)])).saved;
        }),
      );
      const { entries } = await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 });
      const { record } = await rig.store.record({ kind: 'alert', tenantId: 'acme', id: 'a' });
      equal(saved.filter((one) => one).length, 1);
      deepStrictEqual(
        entries.map(({ entryId }) => entryId),
        [`race-${record?.body}`],
      );
    },
    'one that failed is tried later, one that was given up is kept': async (rig) => {
      await rig.create('job_out_3', {}, { outbox: [entry('e5'), entry('e6')] });
      await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1_000 });
      await rig.store.settleOutbox([
        { entryId: 'e5', outcome: 'again', dueAt: T0 + 60_000 },
        { entryId: 'e6', outcome: 'dead' },
      ]);
      rig.clock.advance(59_999);
      deepStrictEqual((await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1 })).entries, []);
      rig.clock.advance(1);
      equal(
        (await rig.store.takeOutbox({ kind: 'callback', limit: 10, leaseMs: 1 })).entries[0]?.entryId,
        'e5',
      );
      deepStrictEqual(
        (await rig.store.deadOutbox({ kind: 'callback', limit: 10 })).entries.map(({ entryId, tries }) => [
          entryId,
          tries,
        ]),
        [['e6', 1]],
      );
    },
  },
};
