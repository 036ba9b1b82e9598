import { utc } from '../contracts/utc.js';
import { BEHAVIOUR } from './behaviour.js';
import { evidenceOf, signOf, signsOf, waysOf } from './cell-text.js';
import { FAULT_IDS, FAULTS, GUARANTEE_IDS, GUARANTEES } from './cells.js';
import { failedCells, unprovenFaults, type Matrix, type Row } from './outcome.js';

export type Made = {
  readonly matrices: readonly Matrix[];
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  readonly versions: { readonly pawl: string; readonly node: string };
};

/** The report, as Markdown: guarantees, behaviour and configuration for every fault, and what all of it rests on. */
export function reportOf(made: Made): string {
  return `${[
    '# Failure matrix',
    'Written by `pawl matrix --report`, or `npm run matrix` for all stores; not by hand. Every fault is brought about with real processes: workers that are killed (SIGKILL) or frozen (SIGSTOP), a proxy that cuts, stalls and swallows connections, a server that is stopped and started. Effects are counted by a witness outside of the store. Processes on a store in memory are simulated, except those that are killed with their store (F9).',
    madeOf(made),
    '## Guarantees',
    GUARANTEE_IDS.map((id) => `- **${id}** ${GUARANTEES[id]}`).join('\n'),
    '✓: held in every trial, under the recommended configuration. resend: once it is sent again. ✗ down: not while the store is down, and again once it is back. ✗ lost: it does not hold there, and trials have shown that it does not. –: the fault does not touch it; looked at all the same where there was something to see. “not proven”: the fault could not be brought about there.',
    ...made.matrices.map(glance),
    '## What the system does',
    table(
      ['fault', 'behaviour', 'remark'],
      FAULT_IDS.map((id) => [name(id), BEHAVIOUR[id].does, BEHAVIOUR[id].remark]),
    ),
    '## Recommended configuration',
    'A ✓ stands for this configuration. `pawl doctor` names each setting that voids a guarantee.',
    table(
      ['fault', 'configuration'],
      FAULT_IDS.map((id) => [name(id), BEHAVIOUR[id].configuration]),
    ),
    '## Evidence',
    ...made.matrices.flatMap(evidence),
  ].join('\n\n')}\n`;
}

function madeOf({ matrices, at, versions: { pawl, node } }: Made): string {
  const date = utc(at).slice(0, 10);
  const stores = matrices.map(({ store, version }) => `${store} ${version}`.trim()).join(', ');
  const failed = matrices.flatMap(failedCells).length;
  const unproven = matrices.flatMap(unprovenFaults).length;
  return table(
    ['', ''],
    [
      ['date', date],
      ['versions', `Pawl ${pawl}, Node ${node}, ${stores}`],
      ['cells that fail', String(failed)],
      ['faults not proven', String(unproven)],
    ],
  );
}

function glance({ store, version, rows }: Matrix): string {
  return [
    `### ${store} ${version}`.trim(),
    table(
      ['fault', ...GUARANTEE_IDS],
      rows.map((row) => [name(row.fault), ...signsOf(row)]),
    ),
  ].join('\n\n');
}

function evidence({ store, version, rows, tookMs }: Matrix): string[] {
  return [`### On ${store} ${version}`.trim(), `${Math.round(tookMs / 1_000)} s.`, ...rows.map(rowEvidence)];
}

function rowEvidence(row: Row): string {
  const { fault, cells, instead, unproven } = row;
  const notes = [
    ...(instead === null ? [] : [`Instead: ${instead}.`]),
    ...(unproven === null ? [] : [`Not proven here: ${unproven}.`]),
    ...waysOf(row).map((way) => `- ${way}`),
  ];
  return [
    `**${name(fault)}**`,
    ...(notes.length === 0 ? [] : [notes.join('\n').replace(/\.\n- /, '.\n\n- ')]),
    table(
      ['', 'found', 'evidence'],
      GUARANTEE_IDS.map((id) => [id, signOf(cells[id]), evidenceOf(cells[id])]),
    ),
  ].join('\n\n');
}

function name(id: keyof typeof FAULTS): string {
  return `${id} ${FAULTS[id]}`;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}
