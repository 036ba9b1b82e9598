import { binaryArray, type ElementType } from './binary-array.js';

/** Rows as a statement takes them, and how it calls them: a list of values for each column, or one value for all rows. */
export type Rows = { readonly from: string; readonly values: readonly (Value | Buffer)[] };
export type Batch = Rows & {
  /** The same rows, as `alias`, with only these of their columns. */
  only(names: readonly string[], alias: string): string;
};

type Value = string | number | null;
export type Column<T> = readonly [name: string, type: ElementType, value: (item: T) => Value];

/**
 * From this many rows on, a column that has the same value in all of them is sent as that value: of the seventeen of a
 * thousand claims five remain lists to pack here and to unpack on the server (bench/store/postgres.ts). Columns of few
 * rows are the same by chance, in ever new ways, and each way is a statement to prepare. A row by itself has no lists at
 * all, which takes a third off the time of its statement.
 */
const MANY = 32;

/**
 * Rows named `alias`, with parameters from `first` on. Lists are unpacked where they are selected, side by side and row by row: of a function
 * in FROM the server would keep all rows before it hands out the first.
 */
export function batch<T>(columns: readonly Column<T>[], items: readonly T[], { alias, first }: Place): Batch {
  const values: (Value | Buffer)[] = [];
  const selected = columns.map(([name, type, value]) => {
    const place = `$${first + values.length}`;
    if (items.length === 1 || (items.length >= MANY && isShared(items, value))) {
      values.push(value(items[0] as T));
      return { name, sql: `${place}::${type} AS ${name}` };
    }
    values.push(binaryArray(type, items.map(value)));
    return { name, sql: `unnest(${place}::${type}[]) AS ${name}` };
  });
  const rows = (of: typeof selected, as: string) =>
    `(SELECT ${of.map(({ sql }) => sql).join(', ')}) AS ${as}`;
  const only = (names: readonly string[], as: string) =>
    rows(
      selected.filter(({ name }) => names.includes(name)),
      as,
    );
  return { from: rows(selected, alias), values, only };
}

function isShared<T>(items: readonly T[], value: (item: T) => Value): boolean {
  const first = value(items[0] as T);
  for (const item of items) if (value(item) !== first) return false;
  return true;
}

export type Place = { readonly alias: string; readonly first: number };
