import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { judge } from './bars.js';
import { chartOf } from './chart.js';
import type { Options } from './options.js';
import type { Found } from './rounds.js';
import { barsTable, tableOf } from './table.js';

export type Report = {
  readonly options: Options;
  readonly found: readonly Found[];
  /** Versions and settings of all that took part, one line each. */
  readonly about: readonly string[];
};

/** The machine and the hour: figures without them mean little. */
export function aboutHere(): string[] {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `${new Date().toISOString().slice(0, 16)}Z, commit ${commit()}, Node ${process.version}`,
    `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory} GB, load before the run ${(loadavg()[0] ?? 0).toFixed(1)}`,
  ];
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

/** Prints the table and writes what was asked for. False: a bar was missed, at the scale that bars are for. */
export function report({ options, found, about }: Report): boolean {
  const verdicts = judge(found);
  console.log(
    `\n${about.join('\n')}\n${options.rounds} rounds, scale ${options.scale}, middle (least to most)`,
  );
  console.log(tableOf(found));
  const judged = verdicts.filter(({ met }) => met !== null);
  if (judged.length > 0) console.log(`\nbars\n${barsTable(judged)}`);
  const others = verdicts.length - judged.length;
  if (others > 0)
    console.log(`  ${others} more are held against peers, which did not run here: npm run bench:peers`);
  if (options.json !== null) {
    const { rounds, scale } = options;
    writeFileSync(options.json, `${JSON.stringify({ about, rounds, scale, found, verdicts }, null, 1)}\n`);
  }
  if (options.svg !== null) writeFileSync(options.svg, chartOf(found, about));
  return options.scale !== 'full' || verdicts.every(({ met }) => met !== false);
}
