import { MOST, SIZES, type Batch, type Batched } from './batched.js';
import type { SqlValue } from './driver.js';
import { LAST_ROW } from './last-row.js';
import type { Session } from './session.js';

/** Thrown to undo a transaction: something had come between. */
export class Overtaken extends Error {
  constructor() {
    super('a row was not as the transaction expected it');
  }
}

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
    const run = ({ sql, rows, values }: Batch): void => {
      if (db.runList(sql, values) < rows) throw new Overtaken();
    };
    this.log = new Pending(run);
    this.rows = new Pending(run);
    this.newRows = new Pending(run);
    this.records = new Pending(run);
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

/** Values for one statement, until there are enough of them or another statement is wanted. They are good until `run` returns. */
export class Pending {
  readonly #run: (batch: Batch) => void;
  readonly #values: SqlValue[] = [];
  #statement: Batched | null = null;
  #rows = 0;

  constructor(run: (batch: Batch) => void) {
    this.#run = run;
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
        this.#run(statement.for(rows, part));
      }
    }
    values.length = 0;
    this.#statement = null;
  }
}
