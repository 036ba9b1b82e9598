import { describe, expect, onTestFinished, test } from 'vitest';
import { fatal } from '../../client/effect.js';
import { task } from '../../client/task.js';
import type { Courier } from '../../ports/courier.js';
import type { Store } from '../../ports/store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp, type TestAppOptions } from '../../testkit/index.js';
import type { AlertPayload } from './alert.js';

const failing = task({ name: 'failing' }, () => {
  throw fatal(new Error('broken'));
});
const fine = task({ name: 'fine' }, () => 'done');

const DEAD = 'https://dead.example/hook';
const ALIVE = 'https://alive.example/hook';

/** Receivers of which one never answers, unless it is told to. */
function receivers() {
  const heard: AlertPayload[] = [];
  const state = { revived: false };
  const courier: Courier = {
    check: async () => undefined,
    async deliver({ url, body }) {
      if (url === DEAD && !state.revived) return { status: 500 };
      heard.push(JSON.parse(body) as AlertPayload);
      return { status: 204 };
    },
  };
  return { courier, heard, state };
}

async function working(options: TestAppOptions) {
  const work = { lease: '10m', poll: '5s' } as const;
  const rig = await testApp({ tasks: [failing, fine], work, ...options });
  onTestFinished(() => rig.stop());
  const fail = async (count: number, tenantId = 'default') => {
    for (let n = 0; n < count; n++) await rig.ended((await rig.app.start(failing, n, { tenantId })).job);
  };
  return { ...rig, fail };
}

describe('alerts of an application that works', () => {
  test('JOB-12 raised by its own loop within 30 s, told with the whole payload, listed, and cleared', async () => {
    const { courier, heard } = receivers();
    const rig = await working({ courier });
    await rig.app.callbacks.subscribe({ url: ALIVE, events: ['alert'] });
    await rig.fail(10);
    const failedAt = rig.clock.now();
    await advanceUntil(rig.clock, () => heard.length === 1, { atMost: '31s' });
    expect(rig.clock.now() - failedAt).toBeLessThanOrEqual(30_000);
    const [alert] = await rig.app.alerts.list({ tenantId: 'default' });
    expect(heard[0]).toEqual({
      event: 'alert.raised',
      alert_id: alert?.alertId,
      rule: 'dlq_growth',
      severity: 'P2',
      tenant_id: 'default',
      message: expect.stringMatching(/^10 jobs were dead-lettered .+\.$/) as string,
      value: 10,
      threshold: 10,
      raised_at: expect.stringMatching(/^2026-02-25T12:.+Z$/) as string,
      cleared_at: null,
      job_id: null,
      trace_id: null,
      step: null,
    });
    await advanceUntil(rig.clock, () => heard.length === 2, { atMost: '10m' });
    expect(heard[1]).toMatchObject({ event: 'alert.cleared', alert_id: alert?.alertId });
    expect(heard[1]?.cleared_at).not.toBe(null);
    expect(await rig.app.alerts.list()).toEqual([]);
    expect(await rig.app.alerts.list({ state: 'cleared' })).toMatchObject([{ alertId: alert?.alertId }]);
    expect(await rig.app.alerts.list({ state: null, tenantId: 'acme' })).toEqual([]);
    await expect(rig.app.alerts.list({ state: 'loud' as never })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'state' },
    });
  });

  test('JOB-12 a dead receiver harms nobody: others hear at once, jobs go on; its own can be sent again', async () => {
    const { courier, heard, state } = receivers();
    const rig = await working({ courier });
    await rig.app.callbacks.subscribe({ url: DEAD, events: ['alert'] });
    await rig.app.callbacks.subscribe({ url: ALIVE, events: ['alert'] });
    await rig.fail(10);
    await advanceUntil(rig.clock, () => heard.length === 1, { atMost: '31s' });
    const { job } = await rig.app.start(fine, null);
    expect((await rig.ended(job, { atMost: '1s' })).status).toBe('succeeded');
    await advanceUntil(rig.clock, () => heard.length === 2, { atMost: '10m' });
    // Given up after three days, seen, and sent again, though the alert itself is long over.
    rig.clock.advance(4 * 86_400_000);
    await advanceUntil(rig.clock, async () => (await rig.app.callbacks.dead()).length > 0, { atMost: '1d' });
    const dead = await rig.app.callbacks.dead();
    expect(dead[0]).toMatchObject({ jobId: null, kind: 'callback' });
    state.revived = true;
    await rig.app.callbacks.redrive(dead.map(({ entryId }) => entryId));
    await advanceUntil(rig.clock, () => heard.length === 4, { atMost: '2d' });
    expect(heard.slice(2).map(({ event }) => event)).toEqual(['alert.raised', 'alert.cleared']);
  });

  test('JOB-12 a subscriber hears of what it asked for: status unless told otherwise, alerts, or both', async () => {
    const { courier, heard } = receivers();
    const rig = await working({ courier });
    const { callbacks } = rig.app;
    await callbacks.subscribe({ url: ALIVE, contract: 'run-state' });
    await rig.fail(10);
    await advanceUntil(rig.clock, async () => (await rig.app.alerts.list()).length === 1, { atMost: '31s' });
    expect(heard.filter(({ event }) => event !== undefined)).toEqual([]);
    expect(heard.length).toBeGreaterThan(0);
    for (const events of [[], 'alert', null, ['everything'], ['alert', 'all']] as never[]) {
      await expect(callbacks.subscribe({ url: ALIVE, events })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        details: { option: 'events' },
      });
    }
    expect(await callbacks.list()).toMatchObject([{ events: ['status'] }]);
  });

  test('JOB-12 without alerts nothing is looked at', async () => {
    const rig = await working({ alerts: false });
    await rig.fail(12);
    rig.clock.advance(3_600_000);
    await rig.idle();
    expect(await rig.app.alerts.list({ state: null })).toEqual([]);
  });

  test('JOB-12 an outage of the store while an alert is raised leaves the refusal to its caller', async () => {
    const errors: string[] = [];
    const none = () => undefined;
    const log = {
      debug: none,
      info: none,
      warn: none,
      error: (message: string) => void errors.push(message),
    };
    const clock = fakeClock(T0);
    const real = memoryStore({ clock });
    let fails = true;
    const store: Store = {
      ...real,
      putRecord: (...asked) => (fails ? Promise.reject(new Error('no room')) : real.putRecord(...asked)),
    };
    const rig = await working({ log, work: false, clock, store });
    const { job } = await rig.app.start(fine, null);
    await job.cancel();
    const refused = async () => expect(job.cancel()).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
    for (let n = 0; n < 3; n++) await refused();
    expect(errors).toEqual(['an alert could not be raised']);
    fails = false;
    await refused();
    expect(await rig.app.alerts.list()).toMatchObject([{ rule: 'transition_refused', value: 4 }]);
  });
});
