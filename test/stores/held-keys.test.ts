import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Pawl, pawl, task, type PawlError } from '../../src/index.js';
import type { CommitItem } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { Rig } from '../../src/testkit/index.js';
import { startPostgres, waitsForLock, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Below the five seconds for which a start waits for someone else's key, and enough for everything else on a machine that is busy. */
const SOON_MS = 4_000;

/** A store, and an application that holds keys in a transaction which stays open. */
async function ground() {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const application = new pg.Client({ connectionString: url });
  await application.connect();
  onTestFinished(async () => {
    await application.end();
    await rig.stop();
  });
  await application.query('BEGIN');
  let jobs = 0;
  const start = (value: string | null): Promise<CommitItem> => {
    const jobId = `job_start_${++jobs}`;
    const identities = value === null ? [] : [{ tenantId: 'acme', kind: 'key' as const, value }];
    return rig.prepare(jobId, rig.createCommand(jobId), { identities });
  };
  const hold = async (values: readonly string[]) => {
    for (const value of values) await rig.store.commitWithin(application, [await start(value)]);
  };
  const codeOf = (item: CommitItem): Promise<string> =>
    rig.store.commit([item]).then(
      ({ replies: [reply] }) => (reply?.ok ? 'SAVED' : (reply?.code ?? 'NO REPLY')),
      (error: PawlError) => error.code,
    );
  /** Sends all of them in one turn, so that they share groups. */
  const sendAll = async (values: readonly (string | null)[]): Promise<Promise<string>[]> => {
    const items = await Promise.all(values.map(start));
    return items.map(codeOf);
  };
  return { url, application, hold, sendAll };
}

/** Sends free starts, with keys and without, that come after the others in one turn with them; and how long they took. */
async function timed(sent: Promise<readonly Promise<string>[]>) {
  const from = performance.now();
  const answers = await Promise.all(await sent);
  return { answers, ms: performance.now() - from };
}

const free = (round: string) =>
  Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? null : `free ${round} ${n}`));
const SAVED = Array.from({ length: 10 }, () => 'SAVED');

test('GUA-11 thirty who want a key that is held do not stall other starts, and hear what became of it', async () => {
  const { application, hold, sendAll } = await ground();
  await hold(['held']);
  const all = await sendAll([...Array.from({ length: 30 }, () => 'held'), ...free('together')]);
  const [held, together] = [all.slice(0, 30), all.slice(30)];
  const first = await timed(Promise.resolve(together));
  expect(first.answers).toEqual(SAVED);
  expect(first.ms).toBeLessThan(SOON_MS);
  for (const round of ['second', 'third']) {
    held.push(...(await sendAll(['held', 'held'])));
    const { answers, ms } = await timed(sendAll(free(round)));
    expect(answers).toEqual(SAVED);
    expect(ms).toBeLessThan(SOON_MS);
  }
  await application.query('COMMIT');
  expect(new Set(await Promise.all(held))).toEqual(new Set(['IDENTITY_TAKEN']));
});

test('GUA-11 a key that becomes free goes to one of those who wait, and the others find its job', async () => {
  const { url, application, hold, sendAll } = await ground();
  await hold(['held']);
  const held = await sendAll(Array.from({ length: 8 }, () => 'held'));
  await waitsForLock(url);
  await application.query('ROLLBACK');
  const answers = await Promise.all(held);
  expect(answers.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'IDENTITY_TAKEN'), 'SAVED']);
});

test('GUA-11 many keys that are held do not stall other starts either, and all who want one hear what became of it', async () => {
  const { application, hold, sendAll } = await ground();
  const keys = Array.from({ length: 12 }, (_, n) => `held ${n}`);
  await hold(keys);
  const all = await sendAll([...keys, ...free('together')]);
  const [held, together] = [all.slice(0, keys.length), all.slice(keys.length)];
  const { answers, ms } = await timed(Promise.resolve(together));
  expect(answers).toEqual(SAVED);
  expect(ms).toBeLessThan(SOON_MS);
  await application.query('COMMIT');
  expect(new Set(await Promise.all(held))).toEqual(new Set(['IDENTITY_TAKEN']));
});

test('GUA-11 keys that stay held are no outage: who wants one is told that it is busy, and the store is not called down', async () => {
  // Less than a start waits elsewhere: a connection that is silent for so long is taken for a dead one.
  const url = `${await server.createDatabase()}?silence_ms=3000`;
  const noop = task({ name: 'noop' }, () => null);
  const said: string[] = [];
  const tell = (message: string): void => void said.push(message);
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const app = await pawl({ store: url, tasks: [noop], log });
  const application = new pg.Client({ connectionString: url.split('?')[0] });
  await application.connect();
  onTestFinished(async () => {
    await application.end();
    await app.close();
  });
  await application.query('BEGIN');
  const keys = Array.from({ length: 36 }, (_, n) => (n < 6 ? `held ${n}` : 'held'));
  for (const idempotencyKey of new Set(keys))
    await app.start(noop, null, { tx: application, idempotencyKey });
  const { store } = Pawl.inside(app).engine;
  const held = keys.map((idempotencyKey) => app.start(noop, null, { idempotencyKey }));
  const ended = await Promise.allSettled(held);
  expect(ended.map((one) => one.status === 'rejected' && (one.reason as { code: string }).code)).toEqual(
    keys.map(() => 'STORE_BUSY'),
  );
  expect(said).toEqual([]);
  expect((await store.counts({ tenantId: null })).counts).toEqual({});
});
