import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { TcpProxy } from '../../src/matrix/tcp-proxy.js';
import type { StoreTransaction } from '../../src/ports/store.js';
import { postgresStore } from '../../src/stores/postgres/postgres-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { ask, startPostgres, type PostgresServer } from '../postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

type Promised<T> = {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
};

function promised<T>(): Promised<T> {
  let settle: Omit<Promised<T>, 'promise'> | null = null;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...(settle as unknown as Omit<Promised<T>, 'promise'>) };
}

type Page = { readonly rows: readonly string[]; readonly isLast: boolean };

/** As drivers' own cursors do it: a portal that is read two rows at a time, and that keeps the connection until it is closed. */
class Cursor {
  #connection: pg.Connection | null = null;
  #rows: string[] = [];
  readonly #asked: Promised<Page>[] = [];
  readonly closed = promised<void>();

  constructor(readonly text: string) {
    this.closed.promise.catch(() => undefined);
  }

  submit(connection: pg.Connection): null {
    this.#connection = connection;
    connection.parse({ name: '', text: this.text, types: [] }, true);
    connection.bind({ values: [] }, true);
    connection.describe({ type: 'P' }, true);
    connection.flush();
    for (const _ of this.#asked) this.#fetch();
    return null;
  }

  read(): Promise<Page> {
    const asked = promised<Page>();
    this.#asked.push(asked);
    if (this.#connection !== null) this.#fetch();
    return asked.promise;
  }

  close(): Promise<void> {
    this.#connection?.close({ type: 'P' }, true);
    this.#connection?.sync();
    return this.closed.promise;
  }

  #fetch(): void {
    this.#connection?.execute({ rows: '2' }, true);
    this.#connection?.flush();
  }

  #page(isLast: boolean): void {
    this.#asked.shift()?.resolve({ rows: this.#rows.splice(0), isLast });
  }

  handleRowDescription(): void {}
  handleDataRow({ fields }: { readonly fields: readonly string[] }): void {
    this.#rows.push(...fields);
  }
  handlePortalSuspended(): void {
    this.#page(false);
  }
  handleCommandComplete(): void {
    this.#page(true);
    this.#connection?.sync();
  }
  handleReadyForQuery(): void {
    this.closed.resolve();
  }
  handleError(error: Error): void {
    for (const { reject } of this.#asked.splice(0)) reject(error);
    this.closed.reject(error);
  }
}

/** Rows that are sent to the server, as long as it takes them. */
class CopyIn {
  readonly done = promised<void>();
  constructor(
    readonly text: string,
    readonly chunks: readonly string[],
  ) {}
  submit(connection: pg.Connection): null {
    connection.query(this.text);
    return null;
  }
  handleCopyInResponse(connection: {
    sendCopyFromChunk: (chunk: Buffer) => void;
    endCopyFrom: () => void;
  }): void {
    for (const chunk of this.chunks) connection.sendCopyFromChunk(Buffer.from(chunk));
    connection.endCopyFrom();
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.done.resolve();
  }
  handleError(error: Error): void {
    this.done.reject(error);
  }
}

/** A store, a job that a worker holds, and a transaction of its step. */
async function ground({ settings = '' } = {}) {
  const url = await server.createDatabase();
  await ask(url, 'CREATE TABLE ledger (amount int)');
  const way = new URL(`${url}${settings}`);
  const proxy = new TcpProxy({ host: way.hostname, port: Number(way.port) });
  way.port = String(await proxy.open());
  const rig = await Rig.start(({ clock }) =>
    postgresStore({ url: way.toString(), clock, now: () => clock.now() }),
  );
  let transaction: StoreTransaction | null = null;
  onTestFinished(async () => {
    await transaction?.rollback();
    await rig.stop();
    await proxy.close();
  });
  const { attemptId } = await rig.running('job_paying');
  const held = { attemptId: attemptId ?? '' };
  const record = await rig.prepare('job_paying', command('record-step', held), held);
  transaction = await rig.store.begin();
  const amounts = async () =>
    (await ask<{ amount: number }>(url, 'SELECT amount FROM ledger ORDER BY amount')).map(
      ({ amount }) => amount,
    );
  return { rig, proxy, record, transaction, client: clientOf(transaction), amounts };
}

const clientOf = ({ tx }: StoreTransaction): pg.ClientBase => tx as pg.ClientBase;
/** Once what was asked for has been sent. */
const begun = () => new Promise((resolve) => void setImmediate(resolve));
const FIVE = 'SELECT n FROM generate_series(1, 5) AS n';

test('a body may read with a cursor, copy rows in, and ask for rows in portions', async () => {
  const { transaction, client, record, amounts } = await ground();
  const copied = client.query(new CopyIn('COPY ledger FROM STDIN', ['1\n2\n', '3\n']));
  await copied.done.promise;
  const cursor = client.query(new Cursor(FIVE));
  const pages = [await cursor.read(), await cursor.read(), await cursor.read()];
  await cursor.closed.promise;
  expect(pages).toEqual([
    { rows: ['1', '2'], isLast: false },
    { rows: ['3', '4'], isLast: false },
    { rows: ['5'], isLast: true },
  ]);
  const early = client.query(new Cursor(FIVE));
  expect((await early.read()).rows).toEqual(['1', '2']);
  await early.close();
  const { rows } = await client.query({ text: FIVE, rows: 2 } as pg.QueryConfig);
  expect(rows).toHaveLength(5);
  expect((await transaction.commit(record)).reply.ok).toBe(true);
  expect(await amounts()).toEqual([1, 2, 3]);
});

test('GUA-7 a cursor that is left open fails the step at once, and its connection is not used again', async () => {
  const { rig, transaction, client, record, amounts } = await ground();
  await client.query('INSERT INTO ledger VALUES (1)');
  const cursor = client.query(new Cursor(FIVE));
  await cursor.read();
  const error: unknown = await transaction.commit(record).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'Error', message: expect.stringContaining('still open') as string });
  await transaction.rollback();
  await expect(cursor.closed.promise).rejects.toThrow('terminated');
  expect([await amounts(), (await rig.commits('job_paying')).length]).toEqual([[], 2]);
  const next = await rig.store.begin();
  await clientOf(next).query('INSERT INTO ledger VALUES (2)');
  expect((await next.commit(record)).reply.ok).toBe(true);
  expect(await amounts()).toEqual([2]);
});

test('GUA-7 a start behind a cursor that is left open does not keep the step from failing', async () => {
  const { rig, transaction, client, record } = await ground();
  const cursor = client.query(new Cursor(FIVE));
  await cursor.read();
  const start = await rig.prepare('job_within', rig.createCommand('job_within'));
  const starting = rig.store.commitWithin(client, [start]).catch((error: unknown) => error);
  await begun();
  await expect(transaction.commit(record)).rejects.toThrow('still open');
  expect(await starting).toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test('GUA-2 a rollback does not wait for a cursor that is left open', async () => {
  const { rig, transaction, client, record, amounts } = await ground();
  await client.query('INSERT INTO ledger VALUES (1)');
  const cursor = client.query(new Cursor(FIVE));
  await cursor.read();
  await transaction.rollback();
  await expect(cursor.closed.promise).rejects.toThrow('terminated');
  await expect(transaction.commit(record)).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
  expect([await amounts(), (await rig.commits('job_paying')).length]).toEqual([[], 2]);
});

test('GUA-11 a rollback behind a statement that is not answered gives up once the connection has been silent', async () => {
  const { transaction, client, amounts } = await ground({ settings: '?silence_ms=400' });
  await client.query('INSERT INTO ledger VALUES (1)');
  const unanswered = client.query('SELECT pg_sleep(20)').catch((error: Error) => error.message);
  // A statement of the body may take as long as it likes.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const from = performance.now();
  await transaction.rollback();
  expect(performance.now() - from).toBeLessThan(5_000);
  expect(await unanswered).toBe('read timeout');
  expect(await amounts()).toEqual([]);
});

test('GUA-11 a commit behind a start that is not answered gives up once the connection has been silent', async () => {
  const { rig, proxy, transaction, client, record, amounts } = await ground({ settings: '?silence_ms=700' });
  await client.query('INSERT INTO ledger VALUES (1)');
  const start = await rig.prepare('job_within', rig.createCommand('job_within'));
  proxy.become('stalled');
  const starting = rig.store.commitWithin(client, [start]).catch((error: unknown) => error);
  await begun();
  await expect(transaction.commit(record)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(await starting).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  proxy.become('open');
  expect(await amounts()).toEqual([]);
});
