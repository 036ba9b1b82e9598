import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What the world outside saw of one effect, in order. `denied`: whoever asked was told that nothing has happened.
 * `result` of what happened is drawn outside, so a record that has it has it from there.
 */
export type Sight =
  | { readonly saw: 'entered' | 'refused'; readonly pid: number }
  | { readonly saw: 'happened'; readonly pid: number; readonly result: string }
  | { readonly saw: 'denied'; readonly pid: number };

/** A witness that outlives every process: a file for each effect, to which lines are only ever added. */
export class Outside {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  note(key: string, saw: Exclude<Sight['saw'], 'happened'>): void {
    this.#write(key, { saw, pid: process.pid });
  }

  happen(key: string): string {
    const result = resultBy(process.pid, process.hrtime.bigint());
    this.#write(key, { saw: 'happened', pid: process.pid, result });
    return result;
  }

  /** All that anything was ever seen of. Keys are hashes: their files have the same names. */
  keys(): string[] {
    return readdirSync(this.#folder);
  }

  of(key: string): Sight[] {
    const path = this.pathOf(key);
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Sight);
  }

  /** What happened first; null if nothing did. */
  resultOf(key: string): string | null {
    return this.of(key).find((sight) => sight.saw === 'happened')?.result ?? null;
  }

  pathOf(key: string): string {
    return join(this.#folder, key.replaceAll(/[^a-z0-9-]/gi, '_'));
  }

  /** One small write to a file that is open for appending: it is there whole, or not at all. */
  #write(key: string, sight: Sight): void {
    appendFileSync(this.pathOf(key), `${JSON.stringify(sight)}\n`);
  }
}

/** All processes of a machine count their time from the same moment. */
export type Moment = { readonly pid: number; readonly atNs: bigint };

function resultBy(pid: number, atNs: bigint): string {
  return `${pid}-${atNs}`;
}

/** Who made it happen, and when; null if it is no result of ours. */
export function momentOf(result: string): Moment | null {
  const [, pid, atNs] = /^(\d+)-(\d+)$/.exec(result) ?? [];
  return pid === undefined || atNs === undefined ? null : { pid: Number(pid), atNs: BigInt(atNs) };
}
