import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pawl, task } from '../../src/index.js';
import type { CommitItem, CommitReply, StoreTransaction } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';
import { LONG } from '../long-mode.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A store, a job that owns the key `taken`, and an application in the same database. */
async function ground() {
  const url = await server.createDatabase();
  const rig = await Rig.start(({ clock }) => postgresStore({ url, clock, now: () => clock.now() }));
  const app = await clientOf(url);
  onTestFinished(() => rig.stop());
  const start = (jobId: string, value = jobId) =>
    rig.prepare(jobId, rig.createCommand(jobId), { identities: [{ tenantId: 'acme', kind: 'key', value }] });
  await rig.store.commit([await start('job_owner', 'taken')]);
  return { url, rig, app, start };
}

async function clientOf(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const ALL = { job: true, key: true, listed: true };
const NOTHING = { job: false, key: false, listed: false };

/** What there is of a start. */
async function tracesOf(url: string, jobId: string): Promise<unknown> {
  const [traces] = await ask(
    url,
    `SELECT EXISTS (SELECT 1 FROM pawl.jobs WHERE job_id = '${jobId}') AS job,
     EXISTS (SELECT 1 FROM pawl.identities WHERE job_id = '${jobId}') AS key,
     EXISTS (SELECT 1 FROM pawl.created WHERE '${jobId}' = ANY (job_ids)) AS listed`,
  );
  return traces;
}

const SAVED: CommitReply = { ok: true, repeated: false };
const TAKEN: CommitReply = { ok: false, code: 'IDENTITY_TAKEN', owners: ['job_owner'] };

test('GUA-11 of many starts at once in one transaction, all that were acknowledged are there, and nothing of the others', async () => {
  const { url, rig, app, start } = await ground();
  await app.query('BEGIN');
  const items = await Promise.all(
    Array.from({ length: 24 }, (_, n) => start(`job_many_${n}`, n % 3 === 0 ? 'taken' : `key ${n}`)),
  );
  const replies = await Promise.all(
    items.map(async (item) => (await rig.store.commitWithin(app, [item])).replies[0]),
  );
  await app.query('COMMIT');
  expect(replies).toEqual(items.map((_, n) => (n % 3 === 0 ? TAKEN : SAVED)));
  for (const [n, { jobId }] of items.entries()) {
    expect([jobId, await tracesOf(url, jobId)]).toEqual([jobId, n % 3 === 0 ? NOTHING : ALL]);
  }
});

test('GUA-11 starts that are refused for their keys hold them from nobody, while their transactions stay open', async () => {
  const { url, rig, app, start } = await ground();
  const other = await clientOf(url);
  await rig.store.commit([await start('job_second', 'taken too')]);
  const reply = async (saving: ReturnType<typeof rig.store.commit>) => (await saving).replies[0];
  for (const client of [app, other]) await client.query('BEGIN');
  // In opposite order: with locks that stay, each would wait for the other.
  expect(await reply(rig.store.commitWithin(app, [await start('job_again_1', 'taken')]))).toEqual(TAKEN);
  const secondTaken = { ...TAKEN, owners: ['job_second'] };
  expect(await reply(rig.store.commitWithin(other, [await start('job_again_2', 'taken too')]))).toEqual(
    secondTaken,
  );
  expect(
    await Promise.all([
      reply(rig.store.commitWithin(app, [await start('job_again_3', 'taken too')])),
      reply(rig.store.commitWithin(other, [await start('job_again_4', 'taken')])),
    ]),
  ).toEqual([secondTaken, TAKEN]);
  expect(await reply(rig.store.commit([await start('job_again_5', 'taken')]))).toEqual(TAKEN);
  for (const client of [app, other]) await client.query('COMMIT');
});

test('GUA-11 one that fails in the middle of others fails alone', async () => {
  const { url, rig, app, start } = await ground();
  const rival = await clientOf(url);
  await rival.query('BEGIN');
  await rig.store.commitWithin(rival, [await start('job_rival', 'held')]);
  await app.query('BEGIN');
  const items = [await start('job_first'), await start('job_waits', 'held'), await start('job_last')];
  const ended = await Promise.allSettled(items.map((item) => rig.store.commitWithin(app, [item])));
  await app.query('COMMIT');
  expect(ended).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'STORE_BUSY' } },
    { status: 'fulfilled' },
  ]);
  const traces = await Promise.all(items.map(({ jobId }) => tracesOf(url, jobId)));
  expect(traces).toEqual([ALL, NOTHING, ALL]);
});

test('GUA-11 what an application writes while a start of it is refused, because its key is taken, stays', async () => {
  const { url, rig, app, start } = await ground();
  await app.query('CREATE TABLE orders (id int)');
  await app.query('BEGIN');
  const item = await start('job_refused', 'taken');
  const writing = async () => {
    for (let id = 1; id <= 12; id++) await app.query('INSERT INTO orders VALUES ($1)', [id]);
  };
  const [{ replies }] = await Promise.all([rig.store.commitWithin(app, [item]), writing()]);
  await app.query('COMMIT');
  expect(replies).toEqual([TAKEN]);
  expect(await ask(url, 'SELECT count(*)::int AS orders FROM orders')).toEqual([{ orders: 12 }]);
});

test('GUA-11 an application that starts a job whose key is taken, and another at the same time, has both', async () => {
  const noop = task({ name: 'noop' }, () => null);
  const url = await server.createDatabase();
  const app = await pawl({ store: url, tasks: [noop] });
  onTestFinished(() => app.close());
  const tx = await clientOf(url);
  const { job: owner } = await app.start(noop, null, { idempotencyKey: 'taken' });
  await tx.query('BEGIN');
  const [hit, made] = await Promise.all([
    app.start(noop, null, { tx, idempotencyKey: 'taken' }),
    app.start(noop, null, { tx }),
  ]);
  await tx.query('COMMIT');
  expect([hit.job.id, hit.idempotentHit]).toEqual([owner.id, true]);
  expect(await made.job.status()).toMatchObject({ status: 'queued' });
});

describe('a start that the body of a step does not wait for', () => {
  /** So many statements of the body are answered before it returns: all that a start sends, and more. */
  const MOMENTS = Array.from({ length: 16 }, (_, answers) => answers).filter(
    (answers) => LONG || answers % 3 === 0,
  );

  /** For each of them: a job that a worker holds, a transaction of its step, and a start in it that nobody waits for. */
  async function atEach(
    end: (floating: {
      readonly moment: string;
      readonly transaction: StoreTransaction;
      readonly record: CommitItem;
      readonly told: Promise<unknown>;
      readonly traces: () => Promise<unknown>;
      readonly again: () => Promise<unknown>;
    }) => Promise<void>,
  ): Promise<void> {
    const { url, rig, start } = await ground();
    for (const answers of MOMENTS) {
      const [holding, jobId] = [`job_paying_${answers}`, `job_floating_${answers}`];
      const { attemptId } = await rig.running(holding);
      const held = { attemptId: attemptId ?? '' };
      const item = await start(jobId);
      const record = await rig.prepare(holding, command('record-step', held), held);
      const transaction = await rig.store.begin();
      const tx = transaction.tx as pg.ClientBase;
      const told = rig.store.commitWithin(tx, [item]).then(
        ({ replies }) => replies[0],
        (error: unknown) => error,
      );
      for (let n = 0; n < answers; n++) await tx.query('SELECT 1');
      const again = async () =>
        (await rig.store.commit([await start(`job_again_${answers}`, jobId)])).replies;
      const moment = `after ${answers} answers`;
      await end({ moment, transaction, record, told, traces: () => tracesOf(url, jobId), again });
    }
  }

  test('GUA-2 is committed with the step whole, or not at all, whenever the body returns', async () => {
    const seen = new Set<boolean>();
    await atEach(async ({ moment, transaction, record, told, traces }) => {
      expect((await transaction.commit(record)).reply).toEqual(SAVED);
      const reply = await told;
      const isSaved = !(reply instanceof Error);
      seen.add(isSaved);
      expect(reply).toMatchObject(isSaved ? SAVED : { code: 'STALE_ATTEMPT' });
      expect([moment, await traces()]).toEqual([moment, isSaved ? ALL : NOTHING]);
    });
    expect(seen).toContain(true);
  });

  test('GUA-2 leaves nothing behind where the step is undone, whenever that is', () =>
    atEach(async ({ moment, transaction, told, traces, again }) => {
      await transaction.rollback();
      await told;
      expect([moment, await traces()]).toEqual([moment, NOTHING]);
      expect(await again()).toEqual([SAVED]);
    }));

  test('GUA-2 a worker: the key leads to a job that runs, or is free', async () => {
    const url = await server.createDatabase();
    const child = task({ name: 'child' }, () => 'done');
    const told: Promise<boolean>[] = [];
    const parent = task({ name: 'parent' }, ({ step, input }) =>
      step.transaction<void, pg.ClientBase>('start', async (tx) => {
        const key = `child ${String(input)}`;
        told.push(
          app.start(child, null, { tx, idempotencyKey: key }).then(
            () => true,
            () => false,
          ),
        );
        for (let n = 0; n < Number(input); n++) await tx.query('SELECT 1');
      }),
    );
    const app = await pawl({ store: url, tasks: [parent, child] });
    onTestFinished(() => app.close());
    await app.work({ poll: '200ms', drain: 0, stopOnSignal: false });
    for (const answers of [0, 2, 4, 6, 8]) {
      const { job } = await app.start(parent, answers);
      await job.result({ timeout: '200s' });
      const isStarted = await told.at(-1);
      const again = await app.start(child, null, { idempotencyKey: `child ${answers}` });
      expect([answers, again.idempotentHit]).toEqual([answers, isStarted]);
      expect(await again.job.result({ timeout: '200s' })).toBe('done');
    }
  });

  test('GUA-2 with a taken key: the job that has it is found, and what was saved with it is said to be', async () => {
    const child = task({ name: 'child' }, () => 'done');
    const told: Promise<boolean[]>[] = [];
    const parent = task({ name: 'parent' }, ({ step, input }) =>
      step.transaction<void, pg.ClientBase>('start', async (tx) => {
        const keys = [`fresh ${String(input)}`, 'taken'];
        const asked = keys.map((idempotencyKey) => ({ input: null, options: { idempotencyKey } }));
        const started = app.startMany(child, asked, { tx });
        told.push(started.then((all) => all.map(({ idempotentHit }) => idempotentHit)));
        for (let n = 0; n < Number(input); n++) await tx.query('SELECT 1');
      }),
    );
    const app = await pawl({ store: await server.createDatabase(), tasks: [parent, child] });
    onTestFinished(() => app.close());
    await app.start(child, null, { idempotencyKey: 'taken' });
    await app.work({ poll: '200ms', drain: 0, stopOnSignal: false });
    for (const answers of [1, 3, 6, 9]) {
      const { job } = await app.start(parent, answers);
      await job.result({ timeout: '200s' });
      expect([answers, await told.at(-1)]).toEqual([answers, [false, true]]);
      const again = await app.start(child, null, { idempotencyKey: `fresh ${answers}` });
      expect(again.idempotentHit).toBe(true);
    }
  });
});
