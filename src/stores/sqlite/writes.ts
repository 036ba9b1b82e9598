import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** How many rows one statement may write. Sixteen cost half of sixteen statements; more than thirty-two gain nothing (bench/store). */
const SIZES = [32, 8, 1] as const;
const [MOST] = SIZES;

/** A statement as it is for this many rows. */
export type Batched = (rows: number) => string;

/** `many` is given what stands for all lists of values, as in `VALUES …`. */
export function batched(
  width: number,
  { one, many }: { one: string; many: (lists: string) => string },
): Batched {
  const list = `(${Array.from({ length: width }, () => '?').join()})`;
  const texts = new Map([[1, one]]);
  return (rows) => {
    let text = texts.get(rows);
    if (text === undefined) {
      text = many(Array.from({ length: rows }, () => list).join());
      texts.set(rows, text);
    }
    return text;
  };
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
  readonly #values: SqlValue[] = [];
  #statement: Batched | null = null;
  #rows = 0;

  constructor(db: Session) {
    this.#db = db;
  }

  /** Where to push the values of one more row. */
  next(statement: Batched): SqlValue[] {
    if (statement !== this.#statement || this.#rows === MOST) this.flush();
    this.#statement = statement;
    this.#rows += 1;
    return this.#values;
  }

  flush(): void {
    const [statement, values] = [this.#statement, this.#values];
    if (statement === null) return;
    const width = values.length / this.#rows;
    for (const rows of SIZES) {
      for (; this.#rows >= rows; this.#rows -= rows) {
        const { changes } = this.#db.run(statement(rows), ...values.splice(0, rows * width));
        if (changes < rows) throw new Overtaken();
      }
    }
    this.#statement = null;
  }
}
