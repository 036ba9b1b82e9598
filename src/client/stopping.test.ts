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
