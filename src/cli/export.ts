import { openStore } from '../client/open-store.js';
import { systemClock } from '../client/system-clock.js';
import { writeDurably } from '../client/write-durably.js';
import { EvidenceExport } from '../engine/evidence/export-evidence.js';
import { PawlError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { print, printable, type Console } from './console.js';
import { showProgress } from './progress.js';

export type ExportChoice = {
  readonly store: string;
  readonly jobIds: readonly string[];
  readonly task?: string;
  readonly all: boolean;
  readonly out?: string;
  readonly json: boolean;
};

/** Writes the evidence of jobs to a file or to the standard output, and says what its head is. */
export async function exportEvidence(console: Console, choice: ExportChoice): Promise<number> {
  const { store: url, jobIds, task = null, all, out, json } = choice;
  if ([jobIds.length > 0, task !== null, all].filter(Boolean).length !== 1) {
    throw new PawlError('INVALID_OPTION', { detail: 'give job ids, or --task, or --all: one of them' });
  }
  const store = await openStore(url, { clock: systemClock, migrations: 'verify' });
  const progress = showProgress(console, { json, what: 'jobs exported' });
  try {
    const listed = jobIds.length === 0;
    const evidence = new EvidenceExport(store, listed ? jobsOf(store, task) : jobIds, {
      passOverGone: listed,
      onProgress: progress.tell,
    });
    await (out === undefined ? writeOut(console, evidence) : writeDurably(out, evidence));
    progress.clear();
    const { jobs, commits, head } = evidence;
    const text = `${jobs} jobs, ${commits} commits. Keep the head elsewhere, for verify --head: ${head}`;
    // The standard output is the evidence itself, unless it went to a file.
    if (out !== undefined) print(console, { json, data: { jobs, commits, head, file: out }, text });
    else console.err(json ? `${JSON.stringify({ jobs, commits, head })}\n` : `${printable(text)}\n`);
    return 0;
  } finally {
    progress.clear();
    await store.close();
  }
}

async function writeOut(console: Console, evidence: EvidenceExport): Promise<void> {
  for await (const line of evidence) {
    console.out(line);
    await console.drained?.();
  }
}

const PAGE = 500;

async function* jobsOf(store: Store, task: string | null): AsyncGenerator<string> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['list']>> = await store.list({
      tenantId: null,
      statuses: null,
      task,
      limit: PAGE,
      cursor,
    });
    for (const { jobId } of page.rows) yield jobId;
    cursor = page.next;
  } while (cursor !== null);
}
