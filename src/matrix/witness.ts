import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** What bodies did to the world outside. One line for each, which outlives whoever wrote it. */
export type Sighting = {
  readonly what: string;
  readonly key: string;
  readonly pid: number;
  /** The claim under which it was done, where that is known. */
  readonly attemptId: string;
};

/** What a process says that has looked for a job in its memory. */
export const JOB_FOUND = 'the job was found';
export const JOB_GONE = 'the job was gone';

export function bearWitness(
  file: string,
  what: string,
  { key = '', attemptId = '' }: { key?: string; attemptId?: string } = {},
): void {
  appendFileSync(file, `${JSON.stringify({ what, key, pid: process.pid, attemptId } satisfies Sighting)}\n`);
}

export function sightings(file: string): Sighting[] {
  if (!existsSync(file)) return [];
  return linesOf(file).map((line) => JSON.parse(line) as Sighting);
}

export function linesOf(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}
