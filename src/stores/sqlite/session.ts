import { constants } from 'node:os';
import { PawlError, type ErrorCode } from '../../errors.js';
import type { Job } from '../../kernel/index.js';
import type { StoreClock } from '../../ports/clock.js';
import { RecentJobs } from '../recent-jobs.js';
import type { Database, SqlValue, Statement } from './driver.js';

/** Longest wait for another process's transaction, and how often to look. */
const GIVE_UP_AFTER_MS = 10_000;
const LOOK_AGAIN_MS = 1;
/** How often the file is looked for while something is written: what is acknowledged in between may be lost. Each look is a call of the system. */
const LOOK_FOR_FILE_MS = 1_000;

/**
 * One connection with its prepared statements, and transactions that never block the event loop while they wait. Whatever a
 * statement fails with is an error of ours.
 */
export class Session {
  readonly #db: Database;
  readonly #clock: StoreClock;
  readonly #statements = new Map<string, Statement>();
  /** Those that answer with lists instead of objects. */
  readonly #listing = new Map<string, Statement>();
  readonly recent = new RecentJobs<RecentRow>();
  /** How many transactions it has made. */
  commits = 0;
  /** Called behind each of them. */
  onCommit: () => void = () => undefined;
  /** How many are under way: more than one where another process is writing. */
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #isSameFile: () => boolean;
  #lookedForFileAt: number;
  #isFileLost = false;
  #version: number | null = null;

  constructor(db: Database, clock: StoreClock, isSameFile: () => boolean = () => true) {
    this.#db = db;
    this.#clock = clock;
    this.#isSameFile = isSameFile;
    this.#lookedForFileAt = clock.now();
  }

  now(): number {
    return this.#clock.now();
  }

  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number; readonly id: number } {
    try {
      const { changes, lastInsertRowid } = this.#prepare(sql).run(...values);
      return { changes: Number(changes), id: Number(lastInsertRowid) };
    } catch (error) {
      throw storeError(error);
    }
  }

  /** The same with a list, of hundreds of values mostly, which is handed over as it is. How many rows it has changed. */
  runList(sql: string, values: readonly SqlValue[]): number {
    try {
      return Number(this.#prepare(sql).run(...values).changes);
    } catch (error) {
      throw storeError(error);
    }
  }

  get<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    try {
      return this.#prepare(sql).get(...values) as Row | undefined;
    } catch (error) {
      throw storeError(error);
    }
  }

  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    try {
      return this.#prepare(sql).all(...values) as Row[];
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Rows as lists of their columns: where many rows have many columns, half the cost of objects (bench/store.ts). */
  tuples<Tuple extends readonly SqlValue[]>(sql: string, ...values: readonly SqlValue[]): Tuple[] {
    try {
      const statement = this.#prepareList(sql);
      const rows = statement.all(...values) as unknown as Tuple[];
      return statement.setReturnArrays ? rows : rows.map((row) => Object.values(row) as unknown as Tuple);
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Another one as soon as another connection has written to the file; those of this one do not count. Only within a transaction, for
   * whose length nobody can: looked up once, and only if somebody asks.
   */
  get version(): number {
    this.#version ??= this.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
    return this.#version;
  }

  /** Runs `work` alone and whole: what it wrote is durable when this returns, and gone if it throws. */
  write<T>(work: () => T): Promise<T> {
    // A transaction is over before this returns, unless another process is writing: then those who come later queue up.
    const isFree = this.#unfinished === 0;
    this.#unfinished += 1;
    const turn = isFree ? this.#transact(work) : this.#last.then(() => this.#transact(work));
    if (this.#unfinished > 0) this.#last = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Runs a statement that is a transaction by itself: what it wrote is durable when this returns. False, and nothing is written: a
   * constraint is in the way, or another process.
   */
  writeAlone(sql: string, ...values: readonly SqlValue[]): boolean {
    if (this.#unfinished > 0) return false;
    this.#expectFile(this.#clock.now());
    try {
      this.#prepare(sql).get(...values);
      this.#committed();
      return true;
    } catch (error) {
      if (isBusy(error) || resultCode(error) === SQLITE_CONSTRAINT) return false;
      this.recent.clear();
      throw storeError(error);
    }
  }

  async close(): Promise<void> {
    await this.#last;
    this.#statements.clear();
    this.#listing.clear();
    this.#db.close();
  }

  async #transact<T>(work: () => T): Promise<T> {
    try {
      const now = this.#clock.now();
      this.#expectFile(now);
      const until = now + GIVE_UP_AFTER_MS;
      while (!this.#begin(until)) {
        await new Promise<void>((resolve) => {
          this.#clock.after(LOOK_AGAIN_MS, resolve);
        });
      }
      return this.#finish(work);
    } finally {
      this.#unfinished -= 1;
    }
  }

  /** Throws once the file has been deleted or replaced: whatever is written now is lost with it. */
  #expectFile(now: number): void {
    // Either way: the clock may have been set back.
    if (Math.abs(now - this.#lookedForFileAt) >= LOOK_FOR_FILE_MS) {
      this.#lookedForFileAt = now;
      this.#isFileLost ||= !this.#isSameFile();
    }
    if (!this.#isFileLost) return;
    throw new PawlError('STORE_UNAVAILABLE', {
      detail: 'the database file was deleted or replaced while it was open: restart this process',
    });
  }

  /** Nothing is awaited from BEGIN to COMMIT: a transaction is never left open while other code runs. */
  #finish<T>(work: () => T): T {
    try {
      const result = work();
      this.#say('COMMIT');
      this.#committed();
      return result;
    } catch (error) {
      this.#rollBack();
      this.recent.clear();
      throw storeError(error);
    }
  }

  #committed(): void {
    this.commits += 1;
    this.onCommit();
  }

  /** Asked for a row, which there is none of: what has changed, and the last row's number, would be made into an object for nobody. */
  #say(sql: string): void {
    this.#prepare(sql).get();
  }

  #rollBack(): void {
    try {
      this.#say('ROLLBACK');
    } catch {
      // After some errors, a full disk among them, SQLite has rolled back by itself. What went wrong is thrown anyway.
    }
  }

  /** False: another connection is writing. */
  #begin(until: number): boolean {
    try {
      this.#say('BEGIN IMMEDIATE');
      this.#version = null;
      return true;
    } catch (error) {
      if (!isBusy(error)) throw storeError(error);
      if (this.#clock.now() < until) return false;
      throw new PawlError('STORE_BUSY', { detail: 'the database stayed locked', cause: error });
    }
  }

  /**
   * Planned once, and kept. A limit has to be written as `LIMIT +?`: SQLite plans by what a bare `LIMIT ?` is given, anew each
   * time, and a claim's search for one job then takes 38 µs instead of 11.
   */
  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #prepareList(sql: string): Statement {
    let statement = this.#listing.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      statement.setReturnArrays?.(true);
      this.#listing.set(sql, statement);
    }
    return statement;
  }
}

/** Where a job is, what its row and the log row of the same revision hold, how far its log goes, and when its row was written. */
export type RecentRow = {
  readonly id: number;
  readonly job: Job;
  readonly link: string;
  readonly head: number;
  readonly version: number;
};

const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;

const CODES: Readonly<Record<number, ErrorCode>> = {
  [SQLITE_BUSY]: 'STORE_BUSY',
  8: 'STORE_READ_ONLY',
  13: 'STORE_FULL',
};

/** SQLite's primary result code; null for what is no error of SQLite. */
function resultCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

/** SQLITE_CORRUPT, and SQLITE_NOTADB. */
export function isDamaged(error: unknown): boolean {
  const code = resultCode(error);
  return code === 11 || code === 26;
}

const SQLITE_IOERR = 10;
const SQLITE_IOERR_WRITE = 778;

/** What the system says where there is no more room for this user, or in this file. SQLite itself knows the first alone. */
const NO_ROOM: ReadonlySet<unknown> = new Set([
  constants.errno.ENOSPC,
  constants.errno.EDQUOT,
  constants.errno.EFBIG,
]);

/** Node's own driver does not hand on what the system said: then a write that failed may be a quota, or a broken disk. */
function codeOf(error: Error, code: number): { readonly code: ErrorCode; readonly hint: string } {
  const known = CODES[code] ?? 'STORE_UNAVAILABLE';
  if (code !== SQLITE_IOERR) return { code: known, hint: '' };
  const said = 'systemErrno' in error ? error.systemErrno : undefined;
  if (NO_ROOM.has(said)) {
    return { code: 'STORE_FULL', hint: ' (no room: the disk, a quota, or the limit on the size of a file)' };
  }
  const isUnclear = said === undefined && 'errcode' in error && Number(error.errcode) === SQLITE_IOERR_WRITE;
  return {
    code: known,
    hint: isUnclear ? ' (a write failed: look at quotas, limits on the size of files, and the disk)' : '',
  };
}

/** Errors of the database become ours; what our own code threw stays what it is. */
export function storeError(error: unknown, doing = ''): unknown {
  const code = resultCode(error);
  if (code === null || !(error instanceof Error)) return error;
  const known = codeOf(error, code);
  const detail = `${doing === '' ? '' : `${doing}: `}${error.message}${known.hint}`;
  return new PawlError(known.code, { detail, cause: error });
}
