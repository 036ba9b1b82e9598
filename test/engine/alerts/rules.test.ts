import { describe, expect, test } from 'vitest';
import { evaluateAlerts } from '../../../src/engine/alerts/evaluate.js';
import { AlertGround, MIN, standOnStores, STORES } from './alert-ground.js';

standOnStores();

describe.each(STORES)('on %s', (store) => {
  test('JOB-12 more than a fifth of at least 50 live jobs retrying is raised, but only after five minutes', async () => {
    const ground = await AlertGround.on(store);
    await ground.retrying(11);
    await ground.live(43);
    const engine = await ground.engine();
    await ground.after(0, engine);
    expect(await ground.states()).toEqual(['retrying_share pending']);
    await ground.after(5 * MIN - 1, engine);
    expect(await ground.states()).toEqual(['retrying_share pending']);
    const since = ground.rig.clock.now() - (5 * MIN - 1);
    await ground.after(1, engine);
    expect(await ground.alerts()).toMatchObject([
      {
        rule: 'retrying_share',
        state: 'raised',
        severity: 'P2',
        tenantId: 'acme',
        value: 11 / 54,
        threshold: 0.2,
        since,
        raisedAt: since + 5 * MIN,
        clearedAt: null,
      },
    ]);
    expect((await ground.alerts())[0]?.message).toMatch(
      /^11 of 54 live jobs are being retried: look at .+\.$/,
    );
  });

  test.each([
    ['10 of 50 are no more than a fifth', 10, 40, false],
    ['11 of 49 are too few jobs', 11, 38, false],
    ['11 of 50', 11, 39, true],
    ['11 of 54', 11, 43, true],
    ['11 of 55 are no more than a fifth', 11, 44, false],
  ])('JOB-12 retrying_share at its edges: %s', async (_case, retrying, others, holds) => {
    const ground = await AlertGround.on(store);
    await ground.retrying(retrying);
    await ground.live(others);
    const engine = await ground.engine({ retryingShare: { for: 0 } });
    await ground.after(0, engine);
    expect(await ground.states()).toEqual(holds ? ['retrying_share raised'] : []);
  });

  test('JOB-12 it clears by itself, and what began again has to last for five minutes again', async () => {
    const ground = await AlertGround.on(store);
    await ground.retrying(11);
    const others = await ground.live(39);
    const engine = await ground.engine();
    await ground.after(0, engine);
    await ground.after(4 * MIN, engine);
    await ground.live(5);
    await ground.after(MIN, engine);
    expect(await ground.states()).toEqual([]);
    await ground.cancel(others.slice(0, 5));
    await ground.after(MIN, engine);
    expect(await ground.states()).toEqual(['retrying_share pending']);
    await ground.after(4 * MIN, engine);
    expect(await ground.states()).toEqual(['retrying_share pending']);
    await ground.after(MIN, engine);
    expect(await ground.states()).toEqual(['retrying_share raised']);
    await ground.live(5);
    await ground.after(MIN, engine);
    expect(await ground.alerts()).toMatchObject([{ state: 'cleared', clearedAt: ground.rig.clock.now() }]);
  });

  test('JOB-12 tenants do not mix: each by its own jobs, told to its own subscribers', async () => {
    const ground = await AlertGround.on(store);
    for (const tenantId of ['acme', 'globex', 'initech']) await ground.subscribe(tenantId);
    await ground.retrying(11, 'acme');
    await ground.live(39, 'acme');
    await ground.retrying(20, 'globex');
    await ground.live(200, 'globex');
    await ground.live(60, 'initech');
    const engine = await ground.engine({ retryingShare: { for: 0 } });
    await ground.after(0, engine);
    expect(await ground.states('acme')).toEqual(['retrying_share raised']);
    expect([...(await ground.alerts('globex')), ...(await ground.alerts('initech'))]).toEqual([]);
    expect((await ground.mail()).map(({ tenant_id, event }) => [tenant_id, event])).toEqual([
      ['acme', 'alert.raised'],
    ]);
  });

  test.each([
    ['9 are too few', 9, 0, false],
    ['10 where none were usual', 10, 0, true],
    ['10 where 40 came in the hour before, which is a third for each five minutes', 10, 40, false],
    ['11 where 40 came in the hour before', 11, 40, true],
  ])('JOB-12 dlq_growth at its edges: %s', async (_case, recent, earlier, holds) => {
    const ground = await AlertGround.on(store);
    const engine = await ground.engine();
    // The hour before ends where the five minutes begin; what is older does not count.
    await ground.deadLetters(30);
    ground.rig.clock.advance(1);
    await ground.deadLetters(earlier);
    ground.rig.clock.advance(60 * MIN);
    await ground.deadLetters(recent);
    await ground.after(5 * MIN, engine);
    expect(await ground.states()).toEqual(holds ? ['dlq_growth raised'] : []);
    if (!holds) return;
    const [alert] = await ground.alerts();
    expect(alert).toMatchObject({ tenantId: 'acme', severity: 'P2', value: recent, threshold: 10 });
    expect(alert?.message).toMatch(
      / jobs were dead-lettered within 5 min, where \d\.\d were usual: look at .+\.$/,
    );
  });

  test('JOB-12 dlq_growth is each tenant’s own, wavers without being told again, and clears by itself', async () => {
    const ground = await AlertGround.on(store);
    await ground.subscribe('acme');
    const engine = await ground.engine();
    await ground.deadLetters(9, 'globex');
    await ground.deadLetters(5);
    ground.rig.clock.advance(MIN);
    await ground.deadLetters(5);
    await ground.after(4 * MIN, engine);
    expect(await ground.states()).toEqual(['dlq_growth raised']);
    // The first five are more than five minutes old: half as many keep it raised.
    await ground.after(1, engine);
    expect(await ground.states()).toEqual(['dlq_growth raised']);
    await ground.after(MIN, engine);
    expect(await ground.states()).toEqual(['dlq_growth cleared']);
    expect((await ground.mail()).map(({ event }) => event)).toEqual(['alert.raised', 'alert.cleared']);
  });

  test('JOB-12 a rule that is switched off finds nothing, and what it had raised clears', async () => {
    const ground = await AlertGround.on(store);
    await ground.deadLetters(20);
    await ground.after(0, await ground.engine({ dlqGrowth: false }));
    expect(await ground.states()).toEqual([]);
    await ground.after(0, await ground.engine());
    expect(await ground.states()).toEqual(['dlq_growth raised']);
    await ground.after(0, await ground.engine({ dlqGrowth: false }));
    expect(await ground.states()).toEqual(['dlq_growth cleared']);
  });

  test('JOB-12 cleared alerts are kept for their time, and no more than twenty of a rule and tenant', async () => {
    const ground = await AlertGround.on(store);
    const engine = await ground.engine({ dlqGrowth: { atLeast: 1, times: 0, within: '1s', before: '1s' } });
    for (let round = 0; round < 23; round++) {
      await ground.deadLetters(1, 'acme');
      await ground.after(0, engine);
      await ground.after(1_001, engine);
    }
    await evaluateAlerts(engine);
    const kept = await ground.alerts('acme');
    expect(new Set(kept.map(({ state }) => state))).toEqual(new Set(['cleared']));
    expect(new Set(kept.map(({ alertId }) => alertId)).size).toBe(20);
    expect(kept.at(-1)?.clearedAt).toBe(ground.rig.clock.now());
    await ground.after(30 * 24 * 60 * MIN, engine);
    expect(await ground.alerts()).toHaveLength(1);
    await ground.after(1, engine);
    expect(await ground.alerts()).toEqual([]);
  });
});
