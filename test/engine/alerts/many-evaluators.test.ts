import { describe, expect, test } from 'vitest';
import { evaluateAlerts } from '../../../src/engine/alerts/evaluate.js';
import type { Store } from '../../../src/ports/store.js';
import { AlertGround, MIN, standOnStores, STORES } from './alert-ground.js';

standOnStores();

/** A store as a process sees it that dies at its nth write of a record: before it, or before it hears of it. */
function dyingAt(nth: number, when: 'before' | 'after') {
  let writes = 0;
  let dead = false;
  let tell: () => void = () => undefined;
  const died = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const never = () => new Promise<never>(() => undefined);
  const via = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name: keyof Store) => {
        const method = target[name] as (...asked: unknown[]) => Promise<unknown>;
        if (name === 'close' || name === 'wake' || name === 'listen') return method;
        return async (...asked: unknown[]) => {
          if (dead) return never();
          const dies = name === 'putRecord' && ++writes === nth;
          if (!dies) return method(...asked);
          dead = true;
          if (when === 'after') await method(...asked);
          tell();
          return never();
        };
      },
    });
  return { via, died, isDead: () => dead };
}

describe.each(STORES)('on %s', (store) => {
  test('JOB-12 five minutes last across a restart of the evaluator', async () => {
    const ground = await AlertGround.on(store);
    await ground.retrying(11);
    await ground.live(39);
    await ground.after(0, await ground.engine());
    await ground.after(3 * MIN, await ground.engine());
    await ground.after(2 * MIN - 1, await ground.engine());
    expect(await ground.states()).toEqual(['retrying_share pending']);
    await ground.after(1, await ground.engine());
    const [alert] = await ground.alerts();
    expect([alert?.state, (alert?.raisedAt ?? 0) - (alert?.since ?? 0)]).toEqual(['raised', 5 * MIN]);
  });

  test('JOB-12 many evaluators at once raise once and clear once, and send each subscriber one callback', async () => {
    const ground = await AlertGround.on(store);
    const ids = [await ground.subscribe('acme'), await ground.subscribe('acme')];
    await ground.subscribe('acme', ['status']);
    const retrying = await ground.retrying(11);
    await ground.live(61);
    const engines = await Promise.all(
      Array.from({ length: 6 }, () => ground.engine({ retryingShare: { share: 0.1 } })),
    );
    for (const ms of [0, 5 * MIN, 0]) await ground.after(ms, ...engines);
    const told = async () => (await ground.mail()).map(({ event, alert_id }) => [event, alert_id]);
    const [alert] = await ground.alerts();
    const id = alert?.alertId;
    expect(await ground.states()).toEqual(['retrying_share raised']);
    expect(await told()).toEqual(ids.map(() => ['alert.raised', id]));
    await ground.cancel(retrying);
    for (const ms of [MIN, 0, MIN]) await ground.after(ms, ...engines);
    expect(await ground.states()).toEqual(['retrying_share cleared']);
    expect(await told()).toEqual(ids.map(() => ['alert.cleared', id]));
  });

  test.each([
    ['before', 1],
    ['after', 1],
    ['before', 2],
    ['after', 2],
    ['before', 3],
    ['after', 3],
  ] as const)(
    'JOB-12 an evaluator that dies %s its write %i neither loses nor doubles a callback',
    async (when, nth) => {
      const ground = await AlertGround.on(store);
      await ground.subscribe('acme');
      const retrying = await ground.retrying(11);
      await ground.live(39);
      const { via, died, isDead } = dyingAt(nth, when);
      const mortal = await ground.engine({}, via);
      const heir = await ground.engine();
      const events: string[] = [];
      for (const ms of [0, 5 * MIN, MIN]) {
        ground.rig.clock.advance(ms);
        if (ms === MIN) await ground.cancel(retrying);
        await Promise.race([evaluateAlerts(mortal), died]);
        await evaluateAlerts(heir);
        events.push(...(await ground.mail()).map(({ event }) => event));
      }
      expect(isDead()).toBe(true);
      expect(events).toEqual(['alert.raised', 'alert.cleared']);
      expect(await ground.states()).toEqual(['retrying_share cleared']);
    },
  );
});
