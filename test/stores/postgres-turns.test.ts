import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneOf } from '../../src/kernel/index.js';
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

const QUEUE = 'q';
const laneNamed = (task: string) => ({ lane: laneOf({ task, queue: QUEUE, version: null }), keyLimit: null });

test('one statement tells whose turn it may be: those behind the last, then from the beginning up to it, and their keys', async () => {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const create = (tenantId: string, task: string, concurrencyKey: string | null = null) =>
    rig.create(`${task}-${tenantId}-${concurrencyKey ?? 'no-key'}`, {
      tenantId,
      task,
      concurrencyKey,
      queue: QUEUE,
      version: null,
    });
  for (const tenant of ['ant', 'bee', 'cat', 'dog']) await create(tenant, 'first-task');
  for (const tenant of ['bee', 'eel']) await create(tenant, 'second-task');
  await create('fox', 'third-task');
  for (const key of ['k1', 'k2']) await create('bee', 'first-task', key);
  await create('dog', 'first-task', 'k3');

  const session = new Session({ url });
  const lanes = ['first-task', 'second-task'].map(laneNamed);
  const turns = async (after: string, limit: number, tenantId?: string) => {
    const { tenants, gates } = await findTurns(session.single, { lanes, limit, after, tenantId });
    return [tenants.join(), ...gates.map(({ tenant, gate }) => `${tenant} ${gate.slice(-2)}`).toSorted()];
  };
  expect(await turns('', 10)).toEqual(['ant,bee,cat,dog,eel', 'bee k1', 'bee k2', 'dog k3']);
  expect(await turns('', 2)).toEqual(['ant,bee', 'bee k1', 'bee k2']);
  expect(await turns('bee', 2)).toEqual(['cat,dog', 'dog k3']);
  expect(await turns('bee', 4)).toEqual(['cat,dog,eel,ant', 'dog k3']);
  expect(await turns('bee', 5)).toEqual(['cat,dog,eel,ant,bee', 'bee k1', 'bee k2', 'dog k3']);
  expect(await turns('eel', 3)).toEqual(['ant,bee,cat', 'bee k1', 'bee k2']);
  expect(await turns('zoo', 10)).toEqual(['ant,bee,cat,dog,eel', 'bee k1', 'bee k2', 'dog k3']);
  expect(await turns('zoo', 10, 'dog')).toEqual(['dog', 'dog k3']);
  await rig.store.pauseQueue({ queue: QUEUE, paused: true, by: 'someone' });
  expect(await turns('', 10)).toEqual(['']);
  await session.close();
  await rig.stop();
});
