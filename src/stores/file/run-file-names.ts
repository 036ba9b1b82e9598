import { JOB_ID } from '../../kernel/index.js';

/** Runs, and what is not a run yet: a change under way, and a file that is still being written. */
const RUN = '.json';
const NEXT = /^(?<run>.*\.json)\.(?<version>\d+)\.next$/;
const PARTIAL = '.partial';

/** An id may have a colon, which is no letter for the names of files everywhere; and never a plus. */
export function fileNameOf(runId: string): string {
  return `${runId.replaceAll(':', '+')}${RUN}`;
}

/** Whatever somebody asks for, nothing beyond the folder is looked at. */
export function canBeId(runId: string): boolean {
  return !/[/\\\0]/.test(runId);
}

/** Null: this is no run, but something that somebody else has put there. */
export function runIdOf(fileName: string): string | null {
  if (!fileName.endsWith(RUN)) return null;
  const runId = fileName.slice(0, -RUN.length).replaceAll('+', ':');
  return JOB_ID.test(runId) ? runId : null;
}

/** The change that leads to a version. Whoever has put it there is the only one who may make it. */
export function nextNameOf(runId: string, version: number): string {
  return `${fileNameOf(runId)}.${version}.next`;
}

/** The run and the version that a change leads to; null: this is no change. */
export function nextOf(fileName: string): { runId: string; version: number } | null {
  const { run = '', version } = NEXT.exec(fileName)?.groups ?? {};
  const runId = runIdOf(run);
  return runId === null ? null : { runId, version: Number(version) };
}

export function isPartial(fileName: string): boolean {
  return fileName.endsWith(PARTIAL);
}
