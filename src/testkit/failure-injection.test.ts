import { describe, expect, test } from 'vitest';
import { effect, happened, notHappened, task, type HandlerContext } from '../index.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock } from './fake-clock.js';
import { FailureInjection, InjectedFailure, INJECTION_MODES } from './failure-injection.js';
import { ENGINE_POINTS, InjectedStore } from './injected-store.js';
import { T0 } from './sample-job.js';
import { testApp } from './test-app.js';

describe('RUN-9 failure injection', () => {
  test.each(INJECTION_MODES)('%s is thrown, with its type, at the call that the rule names', (mode) => {
    const injection = new FailureInjection([{ mode, point: 'charge', atInvocation: 2, repeat: 2 }]);
    const outcomes = [1, 2, 3, 4].map(() => {
      try {
        injection.inject('charge');
        return 'passes';
      } catch (error) {
        expect(error).toBeInstanceOf(InjectedFailure);
        expect(error).toMatchObject({ mode, point: 'charge', retryable: true });
        return 'fails';
      }
    });
    expect(outcomes).toEqual(['passes', 'fails', 'fails', 'passes']);
    expect(injection.invocationCount('charge')).toBe(4);
  });

  test('the first call, once, unless the rule says otherwise; other points are not affected', () => {
    const injection = new FailureInjection([{ mode: 'timeout', point: 'a' }]);
    injection.inject('b');
    expect(() => injection.inject('a')).toThrow("injected timeout at 'a', call 1");
    injection.inject('a');
    injection.inject('b');
    expect(['a', 'b', 'c'].map((point) => injection.invocationCount(point))).toEqual([2, 2, 0]);
  });

  test.each([
    ['mode', { mode: 'fire', point: 'a' }],
    ['point', { mode: 'timeout', point: '' }],
    ['atInvocation', { mode: 'timeout', point: 'a', atInvocation: 0 }],
    ['repeat', { mode: 'timeout', point: 'a', repeat: 1.5 }],
  ])('a rule with a bad %s is refused', (option, rule) => {
    expect(() => new FailureInjection([rule as never])).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', details: { option } }),
    );
  });

  test('a point in a handler of one’s own fails the attempt with its code, and the retry passes', async () => {
    const injection = new FailureInjection([{ mode: 'timeout', point: 'before the report' }]);
    const report = task({ name: 'report' }, async ({ job }: HandlerContext<null>) => {
      injection.inject('before the report');
      return job.attempt;
    });
    const { app, ended, stop } = await testApp({ tasks: [report] });
    const { job } = await app.start(report, null);
    expect(await ended(job)).toMatchObject({ status: 'succeeded', result: '2', retryCount: 1 });
    await stop();
  });

  /** At each of the engine's points, in each mode: the job ends, and the charge is made once. */
  const cases = ENGINE_POINTS.flatMap((point) => INJECTION_MODES.map((mode) => [point, mode] as const));
  test.each(cases)('at %s: %s leaves one charge and a finished job', async (point, mode) => {
    const clock = fakeClock(T0);
    const store = { ...memoryStore({ clock }), close: async () => undefined };
    // The first heartbeat is the worker's entry: without it there is none.
    const atInvocation = point.startsWith('heartbeat') ? 2 : 1;
    const injection = new FailureInjection([{ mode, point, atInvocation }]);
    const injected = new InjectedStore(store, injection);
    const charges = new Set<string>();
    let made = 0;
    const charge = effect({
      name: 'charge',
      run: (_input: null, { idempotencyKey }) => {
        made += 1;
        charges.add(idempotencyKey);
        return 'paid';
      },
      reconcile: (_input, { idempotencyKey }) =>
        charges.has(idempotencyKey) ? happened('paid') : notHappened(),
    });
    const order = (through: typeof charge) =>
      task({ name: 'order' }, async ({ step }: HandlerContext<null>) => {
        await step.run('quote', () => 1);
        const paid = await step.effect('charge', through, null);
        await step.sleep('cool off', '1m');
        return paid;
      });
    const victim = await testApp({ tasks: [order(injected.effect(charge))], clock, store: injected.store });
    const starter = await testApp({ tasks: [], clock, store, work: false, seed: 2 });
    const { job } = await (point.startsWith('wake') ? victim : starter).app.start(order(charge), null);
    await starter.idle();
    const heir = await testApp({ tasks: [order(charge)], clock, store, seed: 3 });
    expect(await heir.ended(heir.app.job(job.id))).toMatchObject({ status: 'succeeded', result: '"paid"' });
    expect([made, charges.size]).toEqual([1, 1]);
    expect(injection.invocationCount(point)).toBeGreaterThanOrEqual(atInvocation);
    expect(injected.isDead).toBe(mode === 'process_restart_interrupt');
    await heir.stop();
    if (!injected.isDead) await victim.stop();
    await starter.stop();
  });
});
