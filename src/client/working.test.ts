import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../ports/store.js';
import { fakeClock, Link, T0, testApp } from '../testkit/index.js';
import { task } from './task.js';
import type { WorkOptions } from './work-options.js';

const WORK = { lease: '30s', poll: '1s', stopOnSignal: false } as const;

async function ground() {
  const clock = fakeClock(T0);
  let runs = 0;
  const count = task({ name: 'count' }, () => (runs += 1));
  const inner: Store = { ...memoryStore({ clock }), close: async () => undefined };
  let beats = 0;
  let calls = 0;
  const counted = new Proxy(inner, {
    get: (target, name: keyof Store) => {
      const method = target[name] as (...asked: unknown[]) => unknown;
      if (name === 'wake' || name === 'listen' || name === 'close') return method;
      return async (...asked: unknown[]) => {
        calls += 1;
        const reply = await method(...asked);
        // Answers to the first heartbeats take their time.
        if (name === 'beat' && (beats += 1) === 1)
          await new Promise((resolve) => clock.after(300, () => resolve(null)));
        return reply;
      };
    },
  });
  const link = new Link(counted);
  const rig = await testApp({ tasks: [count], clock, store: link.store, work: false });
  onTestFinished(() => rig.stop());
  return { ...rig, count, link, counts: () => ({ calls, runs }) };
}

describe('work', () => {
  test('GUA-11 that failed for want of a store works when it is asked to again', async () => {
    const { app, run, ended, count, link, counts } = await ground();
    const listening = process.listenerCount('SIGTERM');
    link.down = true;
    const both = Promise.allSettled([app.work({ ...WORK, stopOnSignal: true }), app.work(WORK)]);
    const down = { status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } };
    expect(await run(both)).toMatchObject([down, down]);
    expect(process.listenerCount('SIGTERM')).toBe(listening);
    link.down = false;
    await run(app.work(WORK));
    await ended((await app.start(count, null)).job, { atMost: '5s' });
    expect(counts().runs).toBe(1);
  });

  test('that was asked for what cannot be works when it is asked for something else', async () => {
    const { app, run, ended, count } = await ground();
    await expect(app.work({ ...WORK, drain: 'soon' as '1s' })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
    await run(app.work(WORK));
    await ended((await app.start(count, null)).job, { atMost: '5s' });
  });

  test.each(['stop', 'close'] as const)(
    'DEC-5 %s while it begins leaves nothing of it behind',
    async (end) => {
      const { app, run, clock, idle, counts } = await ground();
      const working = app.work(WORK);
      await idle();
      const ending = app[end]();
      await run(Promise.all([working, ending]));
      const { calls } = counts();
      clock.advance(60_000);
      await idle();
      expect(counts().calls).toBe(calls);
      expect(clock.nextAt).toBe(null);
    },
  );

  test.each<WorkOptions>([
    { workerId: '' },
    { workerId: 'x'.repeat(121) },
    { workerId: 'a\nb' },
    { workerId: '\ud800' },
    { workerId: 7 as never },
    { poll: 0 },
    { poll: '4ms' },
    { lease: 0 },
    { lease: 99 },
    { concurrency: 0 },
    { concurrency: 1.5 },
    { drain: -1 },
  ])('INVALID_OPTION: %j', async (options) => {
    const { app } = await ground();
    const [option = ''] = Object.keys(options);
    const refused = {
      code: 'INVALID_OPTION',
      details: { option },
      message: expect.stringContaining(option) as string,
    };
    await expect(app.work({ ...WORK, ...options })).rejects.toMatchObject(refused);
  });

  test('a name of 120 characters is none too long, and neither is a short lease', async () => {
    const { app, run, ended, count } = await ground();
    await run(app.work({ ...WORK, workerId: 'ü'.repeat(120), lease: 1_000, poll: 5 }));
    expect(await ended((await app.start(count, null)).job, { atMost: '5s' })).toMatchObject({
      status: 'succeeded',
    });
  });
});
