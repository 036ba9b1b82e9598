import type { CommitItem } from '../../ports/store.js';
import type { SqlValue } from './driver.js';
import type { Session } from './session.js';

/** Thrown to undo a transaction: a revision was taken that the job's row knew nothing of. */
export class RevTaken extends Error {}

/** Rows in one statement. Sixteen cost half of sixteen statements; more gain little, and wait for longer (bench/store). */
const TOGETHER = 16;

const ROW = '(?, ?, ?, ?, ?, ?)';
const COLUMNS = 6;
const insert = (rows: number): string =>
  `INSERT INTO log (job, rev, command_id, body, link, owns) VALUES ${Array.from({ length: rows }, () => ROW).join()}
   ON CONFLICT DO NOTHING`;
const INSERT_ONE = insert(1);
const INSERT_MANY = insert(TOGETHER);

/** The rows that one transaction adds to the log, written some at a time. Whoever reads the log flushes first. */
export class LogWriter {
  readonly #db: Session;
  #pending: SqlValue[] = [];

  constructor(db: Session) {
    this.#db = db;
  }

  append(id: number, { rev, commandId, body, link, identities }: CommitItem): void {
    const owns = identities.length === 0 ? null : JSON.stringify(identities);
    this.#pending.push(id, rev, commandId, body, link, owns);
    if (this.#pending.length === TOGETHER * COLUMNS) this.#write(INSERT_MANY, TOGETHER);
  }

  flush(): void {
    const pending = this.#pending;
    for (let i = 0; i < pending.length; i += COLUMNS) {
      this.#pending = pending.slice(i, i + COLUMNS);
      this.#write(INSERT_ONE, 1);
    }
    this.#pending = [];
  }

  /** The fence: (job, rev) is the log's key. */
  #write(sql: string, rows: number): void {
    const { changes } = this.#db.run(sql, ...this.#pending);
    this.#pending = [];
    if (changes < rows) throw new RevTaken();
  }
}
