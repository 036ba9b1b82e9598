import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { utc } from '../contracts/utc.js';
import type { EvidenceSink } from '../engine/evidence/evidence-sink.js';
import { syncFolder, writeDurably } from '../stores/file/write-durably.js';

/**
 * Keeps the evidence of each job as a file of its own, in a folder for each day on which jobs ended. The name has the job
 * and the beginning of the file's head: the same evidence has the same name, and other evidence never takes its place.
 */
export function evidenceFolder(folder: string): EvidenceSink {
  const root = resolve(folder);
  return async ({ jobId, finishedAt, lines }) => {
    const day = join(root, utc(finishedAt).slice(0, 'YYYY-MM-DD'.length));
    await makeDurably(day);
    const name = join(day, fileName(jobId));
    await writeDurably(name, lines, () => `${name}-${(lines.head ?? '').slice(0, SHOWN)}.jsonl`);
  };
}

/** Enough that no two files of one job have it in common by chance. */
const SHOWN = 16;

/** Every folder that is new has a name in the one above it. */
async function makeDurably(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let path = folder; path.length >= first.length; path = dirname(path)) await syncFolder(dirname(path));
}

/** Some systems know no colon in names. The head keeps apart what then looks alike. */
function fileName(jobId: string): string {
  return jobId.replaceAll(':', '_');
}
