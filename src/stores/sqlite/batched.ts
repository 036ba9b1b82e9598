import type { SqlValue } from './driver.js';

/** How many rows one statement may write. Sixteen cost half of sixteen statements; more than thirty-two gain nothing (bench/store). */
export const SIZES = [32, 8, 1] as const;
export const [MOST] = SIZES;

/** One statement, the values that it is given, and how many rows it has to change. */
export type Batch = { readonly sql: string; readonly rows: number; readonly values: readonly SqlValue[] };

/**
 * A statement for many rows, each with a list of values of the same width. In the largest a column that is the same in all
 * rows is handed over once, since that costs as much as to store it: of the eighteen of a new job six remain, or fewer.
 * Rows differ at least in their key.
 */
export class Batched {
  /** What writes one row. */
  readonly one: string;
  readonly #width: number;
  readonly #many: (given: Given) => string;
  readonly #texts = new Map<number, string>();

  constructor(width: number, { one, many }: { one: string; many: (given: Given) => string }) {
    this.one = one;
    this.#width = width;
    this.#many = many;
  }

  /** What writes so many rows, with its values: `values` are those of one row after the other. */
  for(rows: number, values: readonly SqlValue[]): Batch {
    if (rows === 1) return { sql: this.one, rows, values };
    const shared = rows === MOST ? this.#shared(values) : 0;
    const short = shared === 0 ? values : this.#shorten(values, shared);
    return { sql: this.#text(rows, shared), rows, values: short };
  }

  /** The columns that have one value in all rows. */
  #shared(values: readonly SqlValue[]): Columns {
    const width = this.#width;
    let shared = 0;
    for (let column = 0; column < width; column++) {
      let at = column + width;
      while (at < values.length && values[at] === values[column]) at += width;
      if (at >= values.length) shared |= 1 << column;
    }
    // They may be the same by chance, in ever new ways, each of which is a statement to prepare.
    return this.#texts.size < MOST_TEXTS || this.#texts.has(keyOf(MOST, shared)) ? shared : 0;
  }

  /** What differs, row by row, and then the rest. */
  #shorten(values: readonly SqlValue[], shared: Columns): SqlValue[] {
    const width = this.#width;
    const short: SqlValue[] = [];
    for (let row = 0; row < values.length; row += width) {
      for (let column = 0; column < width; column++) {
        if ((shared & (1 << column)) === 0) short.push(values[row + column] as SqlValue);
      }
    }
    for (let column = 0; column < width; column++) {
      if ((shared & (1 << column)) !== 0) short.push(values[column] as SqlValue);
    }
    return short;
  }

  #text(rows: number, shared: Columns): string {
    const key = keyOf(rows, shared);
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = this.#many(given({ rows, width: this.#width, shared }));
      this.#texts.set(key, text);
    }
    return text;
  }
}

/** One bit for each, from the lowest on. */
type Columns = number;

/** Of one statement, for ways to share. */
const MOST_TEXTS = 16;

const keyOf = (rows: number, shared: Columns): number => shared * 64 + rows;

/** The values of a statement, as SQL: a table named `given`, what stands for a column of its rows, and for one more value behind all others. */
export type Given = {
  readonly table: string;
  readonly value: (column: number) => string;
  readonly last: string;
};

function given({ rows, width, shared }: { rows: number; width: number; shared: Columns }): Given {
  const columns = Array.from({ length: width }, (_, column) => column);
  const own = columns.filter((column) => (shared & (1 << column)) === 0);
  const common = columns.filter((column) => !own.includes(column));
  const list = `(${own.map(() => '?').join()})`;
  const lists = Array.from({ length: rows }, () => list).join();
  return {
    table: `given (${own.map((column) => `c${column}`).join()}) AS (VALUES ${lists})`,
    value: (column) =>
      own.includes(column) ? `given.c${column}` : `?${rows * own.length + common.indexOf(column) + 1}`,
    last: `?${rows * own.length + common.length + 1}`,
  };
}

/**
 * New rows of a table. One that is there already is not written, which undoes the transaction. `counted`: a column whose values
 * count from a number that whoever runs the statement adds to the end of its values.
 */
export function batchedInsert(table: string, columns: readonly string[], counted?: string): Batched {
  const into = `INSERT INTO ${table} (${columns.join()})`;
  const list = (value: (column: number) => string, last: string): string =>
    columns.map((name, i) => (name === counted ? `${value(i)} + ${last}` : value(i))).join();
  const one = list((column) => `?${column + 1}`, `?${columns.length + 1}`);
  return new Batched(columns.length, {
    one: `${into} VALUES (${one}) ON CONFLICT DO NOTHING`,
    many: ({ table: rows, value, last }) =>
      `WITH ${rows} ${into} SELECT ${list(value, last)} FROM given WHERE true ON CONFLICT DO NOTHING`,
  });
}
