import { describe, expect, test } from 'vitest';
import { reportLateResult } from '../../../src/engine/alerts/effect-late-result.js';
import { evaluateAlerts } from '../../../src/engine/alerts/evaluate.js';
import type { Engine } from '../../../src/engine/engine.js';
import { cancelJob, resolveEffect } from '../../../src/engine/operator.js';
import { signalJob } from '../../../src/engine/signal-job.js';
import type { PawlError } from '../../../src/errors.js';
import { aWait, command, Link } from '../../../src/testkit/index.js';
import { AlertGround, MIN, standOnStores, STORES } from './alert-ground.js';

standOnStores();

/** What a caller hears who cancels a job: `ok`, or the code of the refusal. */
async function cancel(engine: Engine, jobId: string, actor = 'client'): Promise<string> {
  return cancelJob(engine, jobId, { tenantId: null, actor, reason: null }).then(
    () => 'ok',
    ({ code }: PawlError) => code,
  );
}

const signal = async (engine: Engine, jobId: string): Promise<string> =>
  signalJob(engine, { jobId, key: 'go', payload: '1', tenantId: null }).catch(({ code }: PawlError) => code);

/** A decision on an effect that nobody asked about. */
const resolve = async (engine: Engine, jobId: string): Promise<string> =>
  resolveEffect(
    engine,
    { jobId, step: 'charge', occurrence: 1, entry: null, verdict: { kind: 'fail' } },
    { tenantId: null, actor: 'operator:ann' },
  ).then(
    () => 'ok',
    ({ code }: PawlError) => code,
  );

describe.each(STORES)('on %s', (store) => {
  test('JOB-12 three commands of one tenant refused in a row are a P1, raised at once', async () => {
    const ground = await AlertGround.on(store);
    await ground.subscribe('acme');
    const engine = await ground.engine();
    const [ended = ''] = await ground.live(1);
    await ground.cancel([ended]);
    const answers = [await cancel(engine, ended), await signal(engine, ended)];
    expect(await ground.states()).toEqual([]);
    answers.push(await cancel(engine, ended, 'operator:ann'));
    expect(answers).toEqual(Array.from({ length: 3 }, () => 'INVALID_TRANSITION'));
    expect(await ground.alerts()).toMatchObject([
      { rule: 'transition_refused', state: 'raised', severity: 'P1', value: 3, threshold: 3, jobId: ended },
    ]);
    expect(await ground.mail()).toMatchObject([
      { event: 'alert.raised', severity: 'P1', tenant_id: 'acme', job_id: ended, trace_id: 'trace-1' },
    ]);
    await ground.after(5 * MIN - 1, engine);
    expect(await ground.states()).toEqual(['transition_refused raised']);
    await ground.after(1, engine);
    expect(await ground.states()).toEqual(['transition_refused cleared']);
    expect((await ground.mail()).map(({ event }) => event)).toEqual(['alert.cleared']);
  });

  test('JOB-12 an accepted command of the tenant ends the row; another tenant’s does not', async () => {
    const ground = await AlertGround.on(store);
    const engine = await ground.engine();
    const [ended = '', first = '', second = ''] = await ground.live(3);
    const [foreign = ''] = await ground.live(1, 'globex');
    await ground.cancel([ended]);
    for (const accepted of [() => cancel(engine, first), () => signal(engine, second)]) {
      await cancel(engine, ended);
      await cancel(engine, ended);
      expect(['ok', 'kept']).toContain(await accepted());
    }
    await cancel(engine, ended);
    await cancel(engine, ended);
    expect(await ground.states()).toEqual([]);
    expect(await cancel(engine, foreign)).toBe('ok');
    await cancel(engine, ended);
    expect(await ground.states()).toEqual(['transition_refused raised']);
    expect(await ground.alerts('globex')).toEqual([]);
  });

  test.each([
    [5 * MIN, true],
    [5 * MIN + 1, false],
  ])('JOB-12 transition_refused at its edge: the third %i ms after the first', async (ms, holds) => {
    const ground = await AlertGround.on(store);
    const engine = await ground.engine();
    const [ended = ''] = await ground.live(1);
    await ground.cancel([ended]);
    await cancel(engine, ended);
    await cancel(engine, ended);
    ground.rig.clock.advance(ms);
    await cancel(engine, ended);
    expect(await ground.states()).toEqual(holds ? ['transition_refused raised'] : []);
  });

  test('JOB-12 what goes on prolongs the alert, and is not told again', async () => {
    const ground = await AlertGround.on(store);
    await ground.subscribe('acme');
    const [one, other] = [await ground.engine(), await ground.engine()];
    const [ended = ''] = await ground.live(1);
    await ground.cancel([ended]);
    for (let n = 0; n < 3; n++) await cancel(one, ended);
    for (const caller of [one, one, other]) {
      await ground.after(4 * MIN, one, other);
      for (let n = 0; n < 3; n++) await cancel(caller, ended);
    }
    await ground.after(5 * MIN - 1, one, other);
    expect(await ground.states()).toEqual(['transition_refused raised']);
    await ground.after(1, one, other);
    expect(await ground.states()).toEqual(['transition_refused cleared']);
    expect((await ground.mail()).map(({ event }) => event)).toEqual(['alert.raised', 'alert.cleared']);
  });

  test('JOB-12 stale attempts, unknown jobs and races of the engine itself are no refused transitions', async () => {
    const ground = await AlertGround.on(store);
    const engine = await ground.engine();
    const [ended = ''] = await ground.live(1);
    await ground.cancel([ended]);
    const waiting = 'job_waiting_1';
    const { attemptId } = await ground.rig.running(waiting);
    await ground.rig.give(waiting, command('begin-wait', { attemptId: attemptId ?? '', waits: [aWait()] }));
    for (let n = 0; n < 4; n++) {
      expect(await cancel(engine, ended, 'scheduler')).toBe('INVALID_TRANSITION');
      expect(await cancel(engine, 'job_of_nobody')).toBe('JOB_NOT_FOUND');
      expect(await resolve(engine, waiting)).toBe('WAIT_NOT_OPEN');
      expect(await ground.rig.tryToGive(ended, command('complete', { attemptId: 'x/1' }))).toBe(
        'STALE_ATTEMPT',
      );
    }
    expect(await ground.states()).toEqual([]);
  });

  test('GUA-4 JOB-12 a late result of an effect is a P1 with its job and step, for a day', async () => {
    const ground = await AlertGround.on(store);
    await ground.subscribe('acme');
    const engine = await ground.engine();
    const late = { tenantId: 'acme', jobId: 'job_late_1', traceId: 'trace-9', step: 'charge', occurrence: 1 };
    await Promise.all([
      reportLateResult(engine, { ...late, entry: 1 }),
      reportLateResult(await ground.engine(), { ...late, entry: 1 }),
    ]);
    await reportLateResult(engine, { ...late, entry: 2 });
    const raised = { rule: 'effect_late_result', severity: 'P1', jobId: 'job_late_1', step: 'charge' };
    expect(await ground.alerts()).toMatchObject([raised, raised]);
    expect(await ground.mail()).toMatchObject([
      { event: 'alert.raised', job_id: 'job_late_1', trace_id: 'trace-9', step: 'charge' },
      { event: 'alert.raised' },
    ]);
    await ground.after(24 * 60 * MIN - 1, engine);
    expect(await ground.states()).toEqual(Array.from({ length: 2 }, () => 'effect_late_result raised'));
    await ground.after(1, engine);
    expect(await ground.states()).toEqual(Array.from({ length: 2 }, () => 'effect_late_result cleared'));
    expect((await ground.mail()).map(({ event }) => event)).toEqual(['alert.cleared', 'alert.cleared']);
  });

  test('JOB-12 what was reported clears when its rule is switched off', async () => {
    const ground = await AlertGround.on(store);
    const engine = await ground.engine();
    const late = { tenantId: 'acme', jobId: 'job_late_1', traceId: 't', step: 's', occurrence: 1, entry: 1 };
    await reportLateResult(engine, late);
    const [ended = ''] = await ground.live(1);
    await ground.cancel([ended]);
    for (let n = 0; n < 3; n++) await cancel(engine, ended);
    await ground.after(1, engine);
    const states = async () => (await ground.states()).toSorted();
    expect(await states()).toEqual(['effect_late_result raised', 'transition_refused raised']);
    const without = await ground.engine({ transitionRefused: false, effectLateResult: false });
    for (let n = 0; n < 3; n++) await cancel(without, ended);
    await reportLateResult(without, { ...late, entry: 2 });
    await ground.after(0, without);
    expect(await states()).toEqual(['effect_late_result cleared', 'transition_refused cleared']);
  });

  test('GUA-11 JOB-12 outages: shorter than five seconds none, at the same time one, later another', async () => {
    const ground = await AlertGround.on(store);
    const seen = async () =>
      (await ground.alerts('ops')).map(({ raisedAt, clearedAt }) => [
        (raisedAt ?? 0) - startedAt,
        (clearedAt ?? 0) - startedAt,
      ]);
    const process = async () => {
      const links: Link[] = [];
      const engine = await ground.engine({ storeUnavailable: { tenantId: 'ops' } }, (of) => {
        links.push(new Link(of));
        return links[0]?.store ?? of;
      });
      /** Down from then to then, as this process sees it. */
      return async (ms: number) => {
        for (const link of links) link.down = true;
        await engine.store.pausedQueues().catch(() => undefined);
        ground.rig.clock.advance(ms);
        for (const link of links) link.down = false;
        await engine.store.pausedQueues();
        await evaluateAlerts(engine);
      };
    };
    const [one, other] = [await process(), await process()];
    const startedAt = ground.rig.clock.now();
    await one(4_999);
    expect(await seen()).toEqual([]);
    await one(5_000);
    expect(await seen()).toEqual([[4_999, 9_999]]);
    // As if it had noticed a little later.
    await other(10_000);
    expect(await seen()).toEqual([[4_999, 19_999]]);
    ground.rig.clock.advance(10_001);
    await one(5_000);
    expect(await seen()).toEqual([
      [4_999, 19_999],
      [30_000, 35_000],
    ]);
  });

  test('GUA-11 JOB-12 an outage of the store is logged at once, and told from when to when once it is over', async () => {
    const ground = await AlertGround.on(store);
    await ground.subscribe('default');
    const links: Link[] = [];
    const cut = (of: Parameters<typeof evaluateAlerts>[0]['store']) => {
      const link = new Link(of);
      links.push(link);
      return link.store;
    };
    const engines = [await ground.engine({}, cut), await ground.engine({}, cut)];
    const [one] = engines;
    const startedAt = ground.rig.clock.now();
    expect(one?.storeHealth.current).toEqual({ answers: true, since: startedAt });
    const down = (isDown: boolean) => links.forEach((link) => (link.down = isDown));
    const look = async (ms: number) => {
      ground.rig.clock.advance(ms);
      return Promise.allSettled(engines.map((engine) => evaluateAlerts(engine)));
    };
    down(true);
    await look(MIN);
    const from = ground.rig.clock.now();
    expect(ground.logged.filter((line) => line === 'the store cannot be used')).toHaveLength(2);
    expect(one?.storeHealth.current).toEqual({ answers: false, since: from });
    await look(MIN);
    down(false);
    expect((await look(MIN)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    const until = ground.rig.clock.now();
    expect(one?.storeHealth.current).toEqual({ answers: true, since: until });
    expect(await ground.alerts()).toMatchObject([
      {
        rule: 'store_unavailable',
        state: 'cleared',
        severity: 'P1',
        tenantId: 'default',
        raisedAt: from,
        clearedAt: until,
        value: 2 * MIN,
      },
    ]);
    expect(await ground.mail()).toMatchObject([
      { event: 'alert.raised', cleared_at: null },
      { event: 'alert.cleared', rule: 'store_unavailable' },
    ]);
  });
});
