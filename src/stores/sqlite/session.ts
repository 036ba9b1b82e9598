import { PawlError } from '../../errors.js';
import type { Job } from '../../kernel/index.js';
import type { StoreClock } from '../../ports/clock.js';
import { RecentJobs } from '../recent-jobs.js';
import type { Database, SqlValue, Statement } from './driver.js';
import { isBusy, isConstraint, storeError } from './store-error.js';
import { Turns } from './turns.js';

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
  readonly #turns = new Turns();
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
    if (this.#turns.take('alone')) return this.#transact(work);
    return this.#turns.wait('alone').then(() => this.#transact(work));
  }

  /** Has another connection of this process write, in turn with what this one writes. Null: nothing was written, as far as is known. */
  async writeElsewhere<T>(write: () => Promise<T | null>): Promise<T | null> {
    await this.#turns.wait('side by side');
    try {
      this.#expectFile(this.#clock.now());
      const written = await write();
      if (written !== null) this.#committed();
      return written;
    } catch (error) {
      throw storeError(error);
    } finally {
      this.#turns.leave();
    }
  }

  /** Nobody writes, and nobody waits to. */
  get isIdle(): boolean {
    return this.#turns.isFree;
  }

  /**
   * Runs a statement that is a transaction by itself: what it wrote is durable when this returns. False, and nothing is written: a
   * constraint is in the way, or another process.
   */
  writeAlone(sql: string, ...values: readonly SqlValue[]): boolean {
    if (!this.#turns.isFree) return false;
    this.#expectFile(this.#clock.now());
    try {
      this.#prepare(sql).get(...values);
      this.#committed();
      return true;
    } catch (error) {
      if (isBusy(error) || isConstraint(error)) return false;
      this.recent.clear();
      throw storeError(error);
    }
  }

  /** False once the file has been deleted or replaced. */
  isFileThere(): boolean {
    return this.#isSameFile();
  }

  async close(): Promise<void> {
    await this.#turns.wait('alone');
    try {
      this.#statements.clear();
      this.#listing.clear();
      this.#db.close();
    } finally {
      this.#turns.leave();
    }
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
      this.#turns.leave();
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
