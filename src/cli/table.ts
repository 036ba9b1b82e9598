import { oneLine } from './console.js';

export type Cell = string | number | boolean | null | undefined;

const GAP = '  ';

/** Rows under their headings, each column as wide as its widest cell. Nothing is `-`. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(shown))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** One thing with its members, a line for each that has a value. */
export function sheet(members: Readonly<Record<string, Cell>>): string {
  const given = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, value]) => `${name.padEnd(width)}${GAP}${shown(value)}`).join('\n');
}

function shown(cell: Cell): string {
  return cell === null || cell === undefined ? '-' : oneLine(String(cell));
}
