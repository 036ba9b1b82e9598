import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** Rows in one statement. Sixteen cost half of sixteen statements; more gain little (bench/store). */
const TOGETHER = 16;

/** A statement for one list of values, and one for many of them at once. */
export type Batched = { readonly one: string; readonly many: string };

/** `many` is given what stands for all lists, as in `VALUES …`. */
export function batched(
  width: number,
  { one, many }: { one: string; many: (lists: string) => string },
): Batched {
  const list = `(${Array.from({ length: width }, () => '?').join()})`;
  return { one, many: many(Array.from({ length: TOGETHER }, () => list).join()) };
}

/** Thrown to undo a transaction: something had come between. */
export class Overtaken extends Error {
  constructor() {
    super('a row was not as the transaction expected it');
  }
}

/**
 * What one transaction writes to the log and to the rows of jobs, some of it at a time. Each list of values changes one
 * row or the transaction is undone, which makes keys and conditions into fences. Whoever reads flushes first.
 */
export class Writes {
  readonly log: Pending;
  readonly rows: Pending;

  constructor(db: Session) {
    this.log = new Pending(db);
    this.rows = new Pending(db);
  }

  flush(): void {
    this.rows.flush();
    this.log.flush();
  }
}

/** Values for one statement, until there are enough of them or another statement is wanted. */
class Pending {
  readonly #db: Session;
  #statement: Batched | null = null;
  #lists = 0;
  #values: SqlValue[] = [];

  constructor(db: Session) {
    this.#db = db;
  }

  add(statement: Batched, values: readonly SqlValue[]): void {
    if (statement !== this.#statement) this.flush();
    this.#statement = statement;
    this.#values.push(...values);
    this.#lists += 1;
    if (this.#lists < TOGETHER) return;
    this.#write(statement.many, this.#values, TOGETHER);
    this.#forget();
  }

  flush(): void {
    if (this.#statement === null) return;
    const width = this.#values.length / this.#lists;
    for (let i = 0; i < this.#lists; i++) {
      this.#write(this.#statement.one, this.#values.slice(i * width, (i + 1) * width), 1);
    }
    this.#forget();
  }

  #forget(): void {
    this.#statement = null;
    this.#lists = 0;
    this.#values = [];
  }

  #write(sql: string, values: readonly SqlValue[], rows: number): void {
    if (this.#db.run(sql, ...values).changes < rows) throw new Overtaken();
  }
}
