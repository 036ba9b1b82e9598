import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, T0, testApp } from '../testkit/index.js';
import { stopOnSignal } from './stop-on-signal.js';
import { task } from './task.js';

describe('DEC-5 stopping', () => {
  test('whoever closes while it stops waits for what runs', async () => {
    const slow = task({ name: 'slow' }, async ({ step }) => {
      await step.run('work', () => new Promise((resolve) => void clock.after(500, () => resolve(null))));
      return 'done';
    });
    const clock = fakeClock(T0);
    const store = { ...memoryStore({ clock }), close: async () => undefined };
    const { app, idle, run } = await testApp({ tasks: [slow], clock, store });
    const { job } = await app.start(slow, null);
    await idle();
    const stopped = app.stop();
    await run(Promise.all([app.close(), app.close()]));
    await stopped;
    expect((await store.load(job.id)).found?.job).toMatchObject({ status: 'succeeded' });
    expect(clock.now() - T0).toBe(500);
  });

  test('a worker that takes the name of one which still drains waits for it, and is there afterwards', async () => {
    const clock = fakeClock(T0);
    const slow = task({ name: 'slow' }, async ({ step }) =>
      step.run('work', () => new Promise((resolve) => void clock.after(20_000, () => resolve('done')))),
    );
    const { app, idle, run, ended } = await testApp({ tasks: [slow], clock, work: false });
    onTestFinished(() => run(app.close()));
    const work = () => app.work({ workerId: 'named', drain: '1m', stopOnSignal: false });
    await work();
    const { job: first } = await app.start(slow, null);
    await idle();
    const stopped = app.stop();
    const again = run(work());
    await Promise.all([run(stopped), again]);
    expect(await first.status()).toMatchObject({ status: 'succeeded', recoveryCount: 0 });
    expect(await ended((await app.start(slow, null)).job)).toMatchObject({ status: 'succeeded' });
    // Told to stop before it could begin, one never does.
    await app.start(slow, null);
    await idle();
    const all = [app.stop(), work(), app.stop()];
    await run(Promise.all(all));
    const { job: last } = await app.start(slow, null);
    await idle();
    expect(await last.status()).toMatchObject({ status: 'queued' });
  });

  test('a process with two of them ends when the last has stopped', async () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    onTestFinished(() => kill.mockRestore());
    const ends: (() => void)[] = [];
    const stop = () => new Promise<void>((resolve) => ends.push(resolve));
    stopOnSignal(stop);
    stopOnSignal(stop);
    process.emit('SIGTERM', 'SIGTERM');
    ends[0]?.();
    await new Promise((resolve) => void setImmediate(resolve));
    expect(kill).not.toHaveBeenCalled();
    ends[1]?.();
    await expect.poll(() => kill.mock.calls).toEqual([[process.pid, 'SIGTERM']]);
  });
});
