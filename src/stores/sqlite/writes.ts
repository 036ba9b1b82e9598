import { MOST, SIZES, type Batched } from './batched.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** Thrown to undo a transaction: something had come between. */
export class Overtaken extends Error {
  constructor() {
    super('a row was not as the transaction expected it');
  }
}

const LAST_ROW = 'SELECT ifnull(max(id), 0) AS id FROM jobs';
const LAST_ROW_OR_LOG = `SELECT max((SELECT ifnull(max(id), 0) FROM jobs), (SELECT ifnull(max(job), 0) FROM log)) AS id`;

/**
 * What one transaction writes to the log and to the rows of jobs, some of it at a time. New rows go first. Each list of values changes one
 * row or the transaction is undone, which makes keys and conditions into fences. Whoever reads flushes first.
 */
export class Writes {
  readonly log: Pending;
  readonly rows: Pending;
  readonly newRows: Pending;
  readonly records: Pending;
  /** One commit, and no more. */
  readonly isForOne: boolean;
  readonly #db: Session;
  readonly #hopeful: boolean;
  #lastId: number | null = null;

  constructor(
    db: Session,
    { isForOne = false, hopeful = true }: { isForOne?: boolean; hopeful?: boolean } = {},
  ) {
    this.#db = db;
    this.#hopeful = hopeful;
    this.isForOne = isForOne;
    this.log = new Pending(db);
    this.rows = new Pending(db);
    this.newRows = new Pending(db);
    this.records = new Pending(db);
  }

  /**
   * Where the next new row goes. The transaction has the database to itself, so nobody else takes the place. Whoever hopes does
   * not look whether a log is there already, of a row that somebody has deleted: its key tells.
   */
  newId(): number {
    this.#lastId ??= this.#db.get<{ id: number }>(this.#hopeful ? LAST_ROW : LAST_ROW_OR_LOG)?.id ?? 0;
    this.#lastId += 1;
    return this.#lastId;
  }

  flush(): void {
    this.newRows.flush();
    this.records.flush();
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
        const part = this.#rows === rows ? values : values.splice(0, rows * width);
        const batch = statement.for(rows, part);
        if (this.#db.runList(batch.sql, batch.values) < rows) throw new Overtaken();
      }
    }
    values.length = 0;
    this.#statement = null;
  }
}
