import { evidenceOf, signOf, signsOf, waysOf } from './cell-text.js';
import { FAULTS, GUARANTEE_IDS } from './cells.js';
import type { Matrix, Row } from './outcome.js';

/** A matrix for people at a terminal: the evidence of every cell, and then all of it at a glance. */
export function matrixText({ store, version, rows, tookMs }: Matrix): string {
  const seconds = (tookMs / 1_000).toFixed(1);
  return [
    `${store}${version === '' ? '' : ` ${version}`}, ${seconds} s`,
    ...rows.map(rowText),
    glance(rows),
  ].join('\n\n');
}

function rowText(row: Row): string {
  const { fault, cells, instead, unproven } = row;
  return [
    `${fault} ${FAULTS[fault]}`,
    ...(instead === null ? [] : [`     instead: ${instead}`]),
    ...(unproven === null ? [] : [`     not proven here: ${unproven}`]),
    ...waysOf(row).map((way) => `     ${way}`),
    ...GUARANTEE_IDS.map((id) => `  ${id} ${signOf(cells[id]).padEnd(6)} ${evidenceOf(cells[id])}`),
  ].join('\n');
}

function glance(rows: readonly Row[]): string {
  const lines = [['', ...GUARANTEE_IDS], ...rows.map((row) => [row.fault, ...signsOf(row)])];
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
