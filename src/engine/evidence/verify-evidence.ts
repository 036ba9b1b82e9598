import { FileCheck } from './check-file.js';
import { readLines } from './read-lines.js';

export type EvidenceVerdict = {
  readonly holds: boolean;
  /** The first thing that is wrong, as a sentence that says where; null if all holds. */
  readonly problem: string | null;
  /** Where that is, from 1; null if all holds. */
  readonly line: number | null;
  readonly jobs: number;
  readonly commits: number;
  readonly events: number;
  /** The seal of the last line. Compared with the one that was kept when the file was written, it shows a forgery. */
  readonly head: string | null;
};

export type VerifyOptions = {
  readonly head?: string | null;
  readonly onProgress?: (jobs: number) => void;
};

/**
 * Checks a file of evidence, without a store: every byte by its seal, every job by its chain, its ledger and its replay.
 * `head` is the seal that was kept elsewhere. Without it, a file that somebody wrote anew from its first line to its
 * last, with seals and chains of their own, can pass.
 */
export async function verifyEvidence(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  { head = null, onProgress = () => undefined }: VerifyOptions = {},
): Promise<EvidenceVerdict> {
  const check = new FileCheck(onProgress);
  let line = 0;
  let problem: string | null = null;
  for await (const { bytes, ended } of readLines(chunks)) {
    line += 1;
    problem = ended ? check.line(bytes) : 'is cut off: no line break ends it';
    if (problem !== null) break;
  }
  if (problem === null && !check.isComplete) {
    line += 1;
    problem = 'is missing: the evidence does not end here';
  }
  const told = { jobs: check.jobs, commits: check.commits, events: check.events };
  if (problem !== null)
    return { holds: false, problem: `Line ${line} ${problem}.`, line, ...told, head: null };
  if (head !== null && head !== check.head) {
    const forged = `The evidence is whole, but it is not the one of head ${head}: its own is ${check.head}.`;
    return { holds: false, problem: forged, line, ...told, head: check.head };
  }
  return { holds: true, problem: null, line: null, ...told, head: check.head };
}
