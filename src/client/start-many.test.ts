import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { PawlError } from '../errors.js';
import { task, type Pawl, type Start } from '../index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';

const echo = task({ name: 'echo' }, ({ input }) => input);

/** A store, what it is asked, and an application on it that runs nothing. */
async function ground({ onCommit }: { onCommit?: (part: number) => void } = {}) {
  const clock = fakeClock(T0);
  const kept = memoryStore({ clock });
  const asked = { parts: 0, underWay: 0, mostUnderWay: 0 };
  const store: Store = {
    ...kept,
    async commit(items) {
      asked.parts += 1;
      asked.underWay += 1;
      asked.mostUnderWay = Math.max(asked.mostUnderWay, asked.underWay);
      onCommit?.(asked.parts);
      const replies = await kept.commit(items);
      for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => void setImmediate(resolve));
      asked.underWay -= 1;
      return replies;
    },
  };
  const rig = await testApp({ clock, store, work: false });
  onTestFinished(() => rig.stop());
  return { app: rig.app, store, asked, clock };
}

const someJobs = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ input: n, options: { jobId: `one-of-many-${n}` } }));

describe('very many jobs are sent in parts', () => {
  test('each is in its place, and a key that comes twice is one job', async () => {
    const { app, store } = await ground();
    const many = someJobs(1_200);
    const again = { input: 0, options: { idempotencyKey: 'twice' } };
    const all = await app.startMany(echo, [again, ...many, again]);
    expect(all.slice(1, -1).map(({ job }) => job.id)).toEqual(many.map(({ options }) => options.jobId));
    expect(all.at(-1)).toMatchObject({ idempotentHit: true, job: { id: all[0]?.job.id } });
    expect((await store.counts({ tenantId: null })).counts).toEqual({ queued: 1_201 });
  });

  test('if the last cannot be, none is stored', async () => {
    const { app, store, asked } = await ground();
    const bad = { input: 0, options: { priority: 1.5 } };
    const starting = app.startMany(echo, [...someJobs(1_200), bad]);
    await expect(starting).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    expect(asked.parts).toBe(0);
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
  });

  test('nor where nothing is said about any of them, and only the last has an input or a key that cannot be', async () => {
    const { app, store, asked } = await ground();
    const inputs = [...Array.from({ length: 1_200 }, (_, n) => ({ input: `${n}` })), { input: '' }];
    const full = task({ name: 'full', input: z.string().min(1) }, ({ input }) => input);
    await expect(app.startMany(full, inputs)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const keyed = task(
      { name: 'keyed', concurrency: { key: (input: string) => input || '\u0000', limit: 1 } },
      ({ input }) => input,
    );
    await expect(app.startMany(keyed, inputs)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    const notJson = [...inputs.slice(0, -1), { input: 1n as never }];
    await expect(app.startMany(echo, notJson)).rejects.toMatchObject({ code: 'NOT_SERIALISABLE' });
    expect(asked.parts).toBe(0);
    expect((await store.counts({ tenantId: null })).counts).toEqual({});
  });

  test('those about which nothing is said are each started once, in their places', async () => {
    const { app, store } = await ground();
    const all = await app.startMany(
      echo,
      Array.from({ length: 1_200 }, (_, n) => ({ input: n })),
    );
    const ids = all.map(({ job }) => job.id);
    expect(new Set(ids).size).toBe(1_200);
    const stored = await Promise.all(ids.map((id) => store.load(id)));
    expect(stored.map(({ found }) => found?.job.input)).toEqual(ids.map((_, n) => `${n}`));
    expect((await store.counts({ tenantId: null })).counts).toEqual({ queued: 1_200 });
  });

  test('they are made while the first of them are being saved; all others before anything is sent', async () => {
    const inputs = Array.from({ length: 1_200 }, (_, n) => ({ input: n }));
    const timed = task({ name: 'timed', deadline: '1h' }, ({ input }) => input);
    const keyed = task({ name: 'keyed', concurrency: { key: () => 'k', limit: 1 } }, ({ input }) => input);
    const moments = async (start: (app: Pawl) => Promise<readonly Start<unknown>[]>) => {
      const { app, clock } = await ground({ onCommit: () => clock.advance(1_000) });
      const all = await start(app);
      const jobs = await Promise.all(all.map(({ job }) => job.status()));
      return new Set(jobs.map(({ createdAt }) => createdAt)).size;
    };
    expect(await moments((app) => app.startMany(echo, inputs))).toBeGreaterThan(1);
    expect(await moments((app) => app.startMany(echo, [...inputs, { input: 0, options: {} }]))).toBe(1);
    expect(await moments((app) => app.startMany(timed, inputs))).toBe(1);
    expect(await moments((app) => app.startMany(keyed, inputs))).toBe(1);
  });

  test('if only the last has options, and they cannot be, none is stored', async () => {
    const { app, asked } = await ground();
    const plain = Array.from({ length: 1_200 }, (_, n) => ({ input: n }));
    const starting = app.startMany(echo, [...plain, { input: 0, options: { priority: 1.5 } }]);
    await expect(starting).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    expect(asked.parts).toBe(0);
  });

  test('a store that fails in the middle is told of once, and what comes behind is not sent', async () => {
    const { app, asked } = await ground({
      onCommit: (part) => {
        if (part === 2) throw new PawlError('STORE_TOO_NEW', { detail: 'no more' });
      },
    });
    const starting = app.startMany(
      echo,
      Array.from({ length: 5_000 }, (_, n) => ({ input: n })),
    );
    await expect(starting).rejects.toMatchObject({ code: 'STORE_TOO_NEW' });
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => void setImmediate(resolve));
    expect(asked.parts).toBeLessThan(7);
  });

  test('what the caller does with the list while a schema takes its time changes nothing', async () => {
    const { app } = await ground();
    const slow = task({ name: 'slow', input: z.number().refine(async () => true) }, ({ input }) => input);
    const list = [{ input: 1, options: { jobId: 'one-and-only' } }];
    const starting = app.startMany(slow, list);
    list.length = 0;
    expect((await starting).map(({ job }) => job.id)).toEqual(['one-and-only']);
  });

  test('if two inputs cannot be, one is told of, and the other is no stray rejection', async () => {
    const { app, asked } = await ground();
    const slow = task(
      { name: 'slow', input: z.number().refine((n) => Promise.resolve(n > 0)) },
      ({ input }) => input,
    );
    const starting = app.startMany(slow, [{ input: -1 }, { input: 1n as never }]);
    await expect(starting).rejects.toMatchObject({ code: 'NOT_SERIALISABLE' });
    await new Promise((resolve) => void setImmediate(resolve));
    expect(asked.parts).toBe(0);
  });

  test('more than one of them is under way, and never all', async () => {
    const { app, asked } = await ground();
    await app.startMany(echo, someJobs(5_000));
    expect(asked).toEqual({ parts: 10, underWay: 0, mostUnderWay: 3 });
  });
});
