import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export type Column<T> = {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Figures stand under each other. */
  readonly isNumber?: boolean;
  /** Needs no name where there is no room for a head. */
  readonly speaks?: boolean;
  /** Left out where there is no room for it. */
  readonly isWide?: boolean;
  /** Takes whatever room is left, and cuts what is longer. */
  readonly grows?: boolean;
};

type Props<T> = {
  readonly caption: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly empty: ComponentChildren;
  /** Of very many, only so many of the last are shown until somebody asks for all. */
  readonly last?: number;
};

export function Table<T>({
  caption,
  rows,
  columns,
  keyOf,
  empty,
  last = Number.POSITIVE_INFINITY,
}: Props<T>) {
  const [showsAll, setShowsAll] = useState(false);
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const hidden = showsAll ? 0 : Math.max(0, rows.length - last);
  return (
    <>
      {hidden > 0 && (
        <button type="button" class="plain" onClick={() => setShowsAll(true)}>
          Show the {hidden.toLocaleString('en')} before
        </button>
      )}
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(hidden).map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)} data-label={column.name}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function classOf<T>({ isNumber, isWide, grows, speaks }: Column<T>): string {
  return [isNumber && 'number', isWide && 'wide', grows && 'grows', speaks && 'speaks']
    .filter(Boolean)
    .join(' ');
}
