import { closeSync, openSync, readSync } from 'node:fs';
import pg from 'pg';
import type { Figures } from '../workloads/workload.js';

type Reading = { readonly commits: number; readonly walBytes: number | null };

type Query = (this: unknown, ...args: unknown[]) => unknown;

let statements = 0;
let counts = false;

/** Counts the statements that a copy of the `pg` driver sends from now on; several in one text count one by one. */
export function countStatements(client: { readonly prototype: object }): void {
  const connection = client.prototype as { query: Query };
  const send: Query = Reflect.get(connection, 'query');
  counts = true;
  connection.query = function counted(...args) {
    const text = textOf(args[0]);
    let count = known.get(text);
    if (count === undefined) known.set(text, (count = statementsIn(text)));
    statements += count;
    return send.apply(this, args);
  };
}

/** Few texts are sent again and again, and some are long. */
const known = new Map<string, number>();

/** A query is a text, or an object that has one; other objects send one statement themselves. */
function textOf(query: unknown): string {
  const text = typeof query === 'string' ? query : (query as { text?: unknown } | null)?.text;
  return typeof text === 'string' ? text : '';
}

export function statementsIn(text: string): number {
  return Math.max(1, text.split(';').filter((part) => part.trim() !== '').length);
}

/**
 * What a workload costs its database. Statements are counted at the driver. Commits that wrote something are what the
 * database itself has counted: transaction ids that Postgres has given away, and the counter in SQLite's index of its
 * write-ahead log (https://sqlite.org/walformat.html#the_wal_index_file_format). Both are of the whole server or file,
 * on which nobody else works meanwhile.
 */
export class Meter {
  readonly #url: string;
  readonly #before: Reading;
  readonly #statementsBefore: number;

  private constructor(url: string, before: Reading) {
    this.#url = url;
    this.#before = before;
    this.#statementsBefore = statements;
  }

  static async open(url: string): Promise<Meter> {
    return new Meter(url, await read(url));
  }

  async perJob(jobs: number): Promise<Figures> {
    const sent = statements - this.#statementsBefore;
    const after = await read(this.#url);
    const { commits, walBytes } = this.#before;
    const isPostgres = this.#url.startsWith('postgres');
    return {
      ...(isPostgres && counts && { 'statements/job': sent / jobs }),
      ...(Number.isNaN(commits) ? {} : { 'commits/job': (after.commits - commits) / jobs }),
      ...(walBytes !== null &&
        after.walBytes !== null && { 'WAL bytes/job': (after.walBytes - walBytes) / jobs }),
    };
  }
}

async function read(url: string): Promise<Reading> {
  if (url.startsWith('sqlite:')) return { commits: commitsOfFile(url.slice(7)), walBytes: null };
  if (!url.startsWith('postgres')) return { commits: Number.NaN, walBytes: null };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ ids: string; bytes: string }>(
    `SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS ids, pg_current_wal_insert_lsn() - '0/0' AS bytes`,
  );
  await client.end();
  return { commits: Number(rows[0]?.ids), walBytes: Number(rows[0]?.bytes) };
}

function commitsOfFile(path: string): number {
  const file = openSync(`${path}-shm`, 'r');
  const counter = new Uint32Array(1);
  readSync(file, counter, 0, 4, 8);
  closeSync(file);
  return counter[0] ?? Number.NaN;
}
