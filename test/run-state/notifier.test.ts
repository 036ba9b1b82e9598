import { describe, expect, test } from 'vitest';
import { trackerRig } from './tracker-rig.js';

describe('the notifier', () => {
  test('RST-6 one that fails is tried again, then logged; the run neither waits nor fails', async () => {
    let tries = 0;
    const { begin, pass, logged, kept } = trackerRig({
      notify: () => {
        tries += 1;
        throw new Error('the receiver is down');
      },
      detail: 'run',
    });
    const tracker = await begin();
    expect(await tracker.finish({ status: 'success' })).toBe(true);
    expect((await kept.getRun(tracker.runId))?.status).toBe('success');
    for (let n = 0; n < 4; n++) await pass(5_000);
    await tracker.notified();
    expect(tries).toBe(6);
    expect(logged).toEqual(Array(2).fill('a notifier could not be told of a change'));
  });

  test('RST-6 one that never answers holds up nothing but itself', async () => {
    const { begin, kept, pass } = trackerRig({ notify: () => new Promise(() => undefined) });
    const tracker = await begin();
    expect(await tracker.finish({ status: 'success' })).toBe(true);
    expect((await kept.getRun(tracker.runId))?.status).toBe('success');
    for (let n = 0; n < 12; n++) await pass(36_000);
    await tracker.notified();
  });

  test('RST-11 it hears of the run; of steps and hosts only if it asks', async () => {
    for (const [detail, heard] of [
      ['run', 2],
      ['step', 3],
      ['host', 4],
    ] as const) {
      const { begin, told } = trackerRig({ detail });
      const tracker = await begin();
      tracker.stepFinish({ step: 'one', status: 'success' });
      tracker.hostResult({ step: 'one', host: 'a', status: 'success' });
      await tracker.finish({ status: 'success' });
      await tracker.notified();
      expect(told.length, detail).toBe(heard);
    }
  });
});
