import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../../src/index.js';
import { laneOf } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { Session } from '../../src/stores/postgres/session.js';
import { notifiedWakeUps } from '../../src/stores/postgres/wake-ups.js';
import { fakeClock, T0, testApp } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { behindPooler } from './behind-pooler.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const work = task({ name: 'work' }, () => null);
const LANE = laneOf({ task: 'work', queue: 'default', version: null });
const END = 'end';

/** An application that only starts jobs, by a clock that stands still, and what another process hears of it. */
async function ground({ through = async (url: string) => url } = {}) {
  const url = await server.createDatabase();
  const clock = fakeClock(T0);
  const kept = await postgresStore({ url: await through(url), clock, now: () => clock.now() });
  const woken: string[] = [];
  const wake = (lanes: readonly string[]) => {
    woken.push(...lanes);
    kept.wake(lanes);
  };
  const store: Store = { ...kept, wake };
  const { app } = await testApp({ store, clock, work: false });
  let closing: Promise<void> | null = null;
  const close = () => (closing ??= app.close());
  const ear = new pg.Client({ connectionString: url });
  await ear.connect();
  await ear.query('LISTEN pawl_wake');
  const lanes: string[] = [];
  let isEnded = (): void => undefined;
  ear.on('notification', ({ payload }) => {
    const some = JSON.parse(payload ?? '[]') as string[];
    if (some.includes(END)) isEnded();
    else lanes.push(...some);
  });
  onTestFinished(async () => {
    await ear.end();
    await close();
  });
  /** What was heard since: the server hands out notifications in the order of their transactions. */
  const heard = async (): Promise<string[]> => {
    const ended = new Promise<void>((resolve) => {
      isEnded = resolve;
    });
    await ear.query(`SELECT pg_notify('pawl_wake', '["${END}"]')`);
    await ended;
    return lanes.splice(0);
  };
  return { url, app, store, clock, woken, heard, close };
}

describe('GUA-13 a start that comes alone', () => {
  test('is told of along with it, once', async () => {
    const { app, clock, heard, woken } = await ground();
    for (let starts = 0; starts < 3; starts++) {
      await app.start(work, null);
      await expect.poll(heard).toEqual([LANE]);
      clock.advance(1_000);
    }
    expect(woken).toEqual([]);
    expect(await heard()).toEqual([]);
  });

  test('is told of a little later if it comes right behind another', async () => {
    const { app, clock, heard, woken } = await ground();
    await app.start(work, null);
    await expect.poll(heard).toEqual([LANE]);
    await app.start(work, null);
    expect(woken).toEqual([LANE]);
    expect(await heard()).toEqual([]);
    clock.advance(5);
    await expect.poll(heard).toEqual([LANE]);
  });

  test('is told of within its process as well', async () => {
    const { app, store } = await ground();
    const lanes: string[] = [];
    const stop = store.listen((some) => lanes.push(...some));
    await app.start(work, null);
    expect(lanes).toContain(LANE);
    await stop();
  });

  test('is told of behind a pooler, too', async () => {
    const { app, heard, woken } = await ground({ through: behindPooler });
    await app.start(work, null);
    await expect.poll(heard).toEqual([LANE]);
    expect(woken).toEqual([]);
  });

  test('is told of once it is saved where no connection can listen', async () => {
    const { app, woken } = await ground({ through: async (url) => `${url}?prepare=false` });
    await app.start(work, null);
    expect(woken).toEqual([LANE]);
  });

  test('is told of by an application that is closed right after it', async () => {
    const { app, heard, close } = await ground();
    await app.start(work, null);
    await close();
    await expect.poll(heard).toEqual([LANE]);
  });

  test('is not told of before its time', async () => {
    const { app, heard, woken } = await ground();
    await app.start(work, null, { delay: '1h' });
    expect(await heard()).toEqual([]);
    expect(woken).toEqual([]);
  });

  test('is not told of if there is one with its key, and the next is', async () => {
    const { app, clock, heard, woken } = await ground();
    const start = () => app.start(work, null, { idempotencyKey: 'once' });
    expect(await start()).toMatchObject({ idempotentHit: false });
    await expect.poll(heard).toEqual([LANE]);
    for (let hits = 0; hits < 3; hits++) {
      clock.advance(1_000);
      expect(await start()).toMatchObject({ idempotentHit: true });
      expect(await heard()).toEqual([]);
    }
    clock.advance(1_000);
    await app.start(work, null);
    await expect.poll(heard).toEqual([LANE]);
    expect(woken).toEqual([]);
  });
});

test('GUA-13 a notice that got lost is sent again, a little later', async () => {
  const { url, clock, heard } = await ground();
  const session = new Session({ url });
  onTestFinished(() => session.close());
  const { noticeOf } = notifiedWakeUps(session, clock);
  const notice = noticeOf('some-job', LANE);
  notice?.lost();
  expect(await heard()).toEqual([]);
  clock.advance(5);
  await expect.poll(heard).toEqual([LANE]);
});

test('GUA-13 starts that come together are told of once they are saved', async () => {
  const { app, clock, heard, woken } = await ground();
  await app.start(work, null);
  await expect.poll(heard).toEqual([LANE]);
  clock.advance(1_000);
  await Promise.all([app.start(work, null), app.start(work, null)]);
  expect(woken).toEqual([LANE, LANE]);
  await expect.poll(heard).toEqual([LANE]);
});

test('GUA-13 whoever begins to listen while the last one ends hears, too', async () => {
  const url = await server.createDatabase();
  const store = await postgresStore({ url, clock: fakeClock(T0) });
  onTestFinished(() => store.close());
  const stop = store.listen(() => undefined);
  // It is still being connected, and ends after that.
  const stopping = stop();
  await new Promise((resolve) => void setImmediate(resolve));
  const heard: string[] = [];
  store.listen((lanes) => heard.push(...lanes));
  await stopping;
  const notify = async () => {
    await ask(url, `SELECT pg_notify('pawl_wake', '${JSON.stringify([LANE])}')`);
    return heard[0];
  };
  await expect.poll(notify).toBe(LANE);
});
