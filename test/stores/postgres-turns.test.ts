import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { laneOf } from '../../src/kernel/index.js';
import { GateTurns } from '../../src/stores/gate-turns.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { Session } from '../../src/stores/postgres/session.js';
import { findTurns } from '../../src/stores/postgres/turns.js';
import { Rig } from '../../src/testkit/index.js';
import { startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const PAUSED = 'paused';
const queueFor = (task: string) => (task === 'paused-task' ? PAUSED : 'open');
const laneNamed = (task: string) => ({
  lane: laneOf({ task, queue: queueFor(task), version: null }),
  keyLimit: null,
});

test('one statement tells whose turn it may be: those behind the last, then from the beginning up to it, and their keys', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const create = (tenantId: string, task: string, concurrencyKey: string | null = null) =>
    rig.create(`${task}-${tenantId}-${concurrencyKey ?? 'no-key'}`, {
      tenantId,
      task,
      concurrencyKey,
      queue: queueFor(task),
      version: null,
    });
  for (const tenant of ['ant', 'bee', 'cat', 'dog']) await create(tenant, 'first-task');
  for (const tenant of ['bee', 'eel']) await create(tenant, 'second-task');
  await create('fox', 'unknown-task');
  await create('gnu', 'paused-task');
  for (const key of ['k1', 'k2']) await create('bee', 'first-task', key);
  await create('dog', 'first-task', 'k3');

  const session = new Session({ url });
  const lanes = ['first-task', 'second-task', 'paused-task'].map(laneNamed);
  const answer = async (limit: number, who: Parameters<typeof findTurns>[2]) => {
    const { tenants, gates } = await findTurns(
      session.listed,
      { lanes, limit, gateTurns: new GateTurns() },
      who,
    );
    return [tenants.join(), ...gates.map(({ tenant, gate }) => `${tenant} ${gate.slice(-2)}`).toSorted()];
  };
  const turns = (after: string, limit: number) => answer(limit, { after });
  expect(await turns('', 10)).toEqual(['ant,bee,cat,dog,eel,gnu', 'bee k1', 'bee k2', 'dog k3']);
  await rig.store.pauseQueue({ queue: PAUSED, paused: true, by: 'someone' });
  expect(await turns('', 10)).toEqual(['ant,bee,cat,dog,eel', 'bee k1', 'bee k2', 'dog k3']);
  expect(await turns('', 2)).toEqual(['ant,bee', 'bee k1', 'bee k2']);
  expect(await turns('bee', 2)).toEqual(['cat,dog', 'dog k3']);
  expect(await turns('bee', 4)).toEqual(['cat,dog,eel,ant', 'dog k3']);
  expect(await turns('bee', 5)).toEqual(['cat,dog,eel,ant,bee', 'bee k1', 'bee k2', 'dog k3']);
  expect(await turns('eel', 3)).toEqual(['ant,bee,cat', 'bee k1', 'bee k2']);
  expect(await turns('zoo', 10)).toEqual(['ant,bee,cat,dog,eel', 'bee k1', 'bee k2', 'dog k3']);
  expect(await answer(10, { tenants: ['dog', 'bee'] })).toEqual(['dog,bee', 'bee k1', 'bee k2', 'dog k3']);
  expect(await answer(1, { tenants: ['dog', 'bee'] })).toEqual(['dog', 'dog k3']);
  await session.close();
  await rig.stop();
});

test('out of a crowd, claim after claim: tenants take turns, a full key is passed by, and a paused queue rests until it is let go', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const spec = (tenantId: string, task: string, concurrencyKey: string | null = null) => ({
    tenantId,
    task,
    concurrencyKey,
    queue: queueFor(task),
    version: null,
  });
  for (let n = 10; n < 22; n++) {
    for (const tenant of ['ant', 'bee']) await rig.create(`free-${tenant}-${n}`, spec(tenant, 'first-task'));
    await rig.create(`paused-ant-${n}`, spec('ant', 'paused-task'));
    if (n < 13) await rig.create(`bound-bee-${n}`, spec('bee', 'first-task', 'k'));
  }
  await rig.store.pauseQueue({ queue: PAUSED, paused: true, by: 'someone' });
  const lanes = ['first-task', 'paused-task'].map((task) => laneNamed(task).lane);
  let afterTenant = '';
  const claim = async () => {
    const { jobs, lastTenant } = await rig.claim('worker-a', { lanes, limit: 4, keyLimit: 1, afterTenant });
    afterTenant = lastTenant;
    return jobs.map(({ spec: { jobId } }) => jobId.slice(0, -3)).toSorted();
  };
  const all: string[] = [];
  for (let claims = 0; claims < 6; claims++) {
    const claimed = await claim();
    expect(claimed.filter((name) => name.endsWith('-ant'))).toHaveLength(2);
    expect(claimed).toHaveLength(4);
    all.push(...claimed);
  }
  expect(all.filter((name) => name === 'bound-bee')).toEqual(['bound-bee']);
  expect(await claim()).toEqual(['free-bee']);
  expect(await claim()).toEqual([]);
  await rig.store.pauseQueue({ queue: PAUSED, paused: false, by: 'someone' });
  expect(await claim()).toEqual(Array.from({ length: 4 }, () => 'paused-ant'));
  await rig.stop();
});

test('a claim that finds nothing to run looks once at each tenant, and at its own if it is for one', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const lanes = [laneNamed('first-task').lane];
  const spec = { task: 'first-task', queue: 'open', version: null, tenantId: 'bee', concurrencyKey: 'k' };
  for (let n = 0; n < 3; n++) await rig.create(`bound-${n}-of-bee`, spec);
  expect((await rig.claim('worker-a', { lanes, keyLimit: 1 })).jobs).toHaveLength(1);
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => sent.mockRestore());
  const statements = async (options: { tenantId?: string; limit: number }) => {
    sent.mockClear();
    const { jobs } = await rig.claim('worker-a', { lanes, keyLimit: 1, ...options });
    expect(jobs).toEqual([]);
    return sent.mock.calls.length;
  };
  // Of them eight register the worker, begin and end.
  for (const limit of [1, 10]) {
    expect(await statements({ limit, tenantId: 'ant' })).toBeLessThanOrEqual(16);
    expect(await statements({ limit, tenantId: 'bee' })).toBeLessThanOrEqual(16);
    expect(await statements({ limit })).toBeLessThanOrEqual(18);
  }
  await rig.stop();
});
