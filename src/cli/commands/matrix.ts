import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseStoreUrl } from '../../client/open-store.js';
import { systemClock } from '../../client/system-clock.js';
import { withoutPassword } from '../../client/without-password.js';
import { utc } from '../../contracts/utc.js';
import { PawlError } from '../../errors.js';
import { VERSION } from '../../http/version.js';
import { FAULT_IDS, type FaultId } from '../../matrix/cells.js';
import type { ServerControl } from '../../matrix/ground.js';
import { matrixOf } from '../../matrix/matrix-of.js';
import { matrixText } from '../../matrix/matrix-text.js';
import { failedCells, unprovenFaults, type Matrix } from '../../matrix/outcome.js';
import { reportOf } from '../../matrix/report.js';
import { serverCommand } from '../../matrix/server-command.js';
import { storeOf } from '../config/settings.js';
import { print, printable } from '../console.js';
import { CHECK_FAILED } from '../exit-code.js';
import { expectRoom } from '../expect-room.js';
import { showProgress } from '../progress.js';
import {
  choiceOption,
  command,
  examples,
  numberOption,
  type Flags,
  type Register,
  type Shell,
} from '../shell.js';
import { expectWritable, writing } from '../write-file.js';

type Options = Flags & {
  readonly also?: readonly string[];
  readonly fault?: FaultId;
  readonly trials: number;
  readonly patience: number;
  readonly report?: string;
  readonly stopCommand?: string;
  readonly startCommand?: string;
};

export const registerMatrix: Register = (program, shell) => {
  const matrix = command(
    program,
    'matrix',
    'Bring about every fault of the failure matrix, and check every guarantee, on scratch data.',
  )
    .option('--also <url...>', 'more stores, for one report')
    .addOption(choiceOption('--fault <id>', 'only this fault, F1 to F11', FAULT_IDS))
    .addOption(numberOption('--trials <n>', 'how often each fault is brought about', { least: 1 }).default(3))
    .addOption(
      numberOption('--patience <seconds>', 'how long a job may take before it counts as stuck', {
        least: 1,
      }).default(60),
    )
    .option('--report <file>', 'write the report there, as Markdown')
    .option('--stop-command <command>', 'stops the Postgres server, for F9')
    .option('--start-command <command>', 'starts it again')
    .action((options: Options) => shell.ends(run(shell, options)));
  examples(
    matrix,
    'pawl matrix --store sqlite:pawl.db',
    'pawl matrix --store postgres://localhost/app --trials 20 --report failure-matrix.md',
    "pawl matrix --store postgres://localhost/app --stop-command 'pg_ctl stop -m immediate' --start-command 'pg_ctl -w start'",
  );
};

/** Exit code 1 if a cell fails. What is not proven here is said, and fails nothing: nobody was found to be wrong. */
async function run(shell: Shell, options: Options): Promise<number> {
  const { console, cwd } = shell;
  const { json = false, trials, patience, fault, also = [] } = options;
  const report = options.report === undefined ? null : resolve(cwd, options.report);
  const urls = [await storeOf(options, shell), ...also];
  const controls = urls.map((url) => controlOf(url, options));
  // What cannot end well is found out before hours of trials.
  for (const url of urls) expectRoom(url);
  if (report !== null) await expectWritable(report);
  const matrices: Matrix[] = [];
  for (const [index, url] of urls.entries()) {
    const progress = showProgress(console, { json, what: `trials on ${withoutPassword(url)}` });
    const matrix = await matrixOf({
      url,
      control: controls[index] ?? null,
      trials,
      only: fault === undefined ? null : [fault],
      patienceMs: patience * 1_000,
      onTrial: progress.tell,
    }).finally(progress.clear);
    matrices.push(matrix);
    if (!json) console.out(`${printable(matrixText(matrix))}\n\n`);
  }
  const made = { matrices, at: systemClock.now(), versions: { pawl: VERSION, node: process.version } };
  if (report !== null) await writing(report, () => writeFileSync(report, reportOf(made)));
  const failed = matrices.flatMap(failedCells).length;
  const unproven = matrices.flatMap(unprovenFaults).length;
  const text = verdictOf({ failed, unproven });
  const data = {
    passed: failed === 0,
    failed,
    unproven,
    at: utc(made.at),
    versions: made.versions,
    matrices: matrices.map(({ tookMs: took_ms, ...matrix }) => ({ ...matrix, took_ms })),
  };
  print(console, { json, data, text });
  return failed === 0 ? 0 : CHECK_FAILED;
}

function verdictOf({ failed, unproven }: { failed: number; unproven: number }): string {
  const cells = failed === 0 ? 'No cell fails' : failed === 1 ? '1 cell fails' : `${failed} cells fail`;
  if (unproven === 0) return `${cells}.`;
  return `${cells}; ${unproven === 1 ? '1 fault is' : `${unproven} faults are`} not proven here.`;
}

function controlOf(url: string, { stopCommand: stop, startCommand: start }: Options): ServerControl | null {
  if (stop === undefined && start === undefined) return null;
  if (stop === undefined || start === undefined) {
    const option = stop === undefined ? 'stop-command' : 'start-command';
    throw new PawlError('INVALID_OPTION', {
      detail: `${option} is missing: a server that is stopped must be started again`,
      details: { option },
    });
  }
  return parseStoreUrl(url).kind === 'postgres' ? serverCommand(url, { stop, start }) : null;
}
