import { openStore } from '../../client/open-store.js';
import { systemClock } from '../../client/system-clock.js';
import { writeDurably } from '../../stores/file/write-durably.js';
import { EvidenceExport } from '../../engine/evidence/export-evidence.js';
import { PawlError } from '../../errors.js';
import type { Store } from '../../ports/store.js';
import { storeOf } from '../config/settings.js';
import { print, printable, type Console } from '../console.js';
import { showProgress } from '../progress.js';
import { command, examples, type Flags, type Register, type Shell } from '../shell.js';
import { writing } from '../write-file.js';

type Choice = Flags & { readonly task?: string; readonly all: boolean; readonly out?: string };

export const registerExport: Register = (program, shell) => {
  const exported = command(
    program,
    'export',
    'Write the evidence of jobs: their logs, effects and rows, sealed against changes.',
  )
    .argument('[job-id...]')
    .option('--task <name>', 'every job of this task')
    .option('--all', 'every job', false)
    .option('--out <file>', 'where to; without it, to the standard output')
    .action((jobIds: string[], options: Choice) => shell.ends(run(shell, { ...options, jobIds })));
  examples(exported, 'pawl export --all --out evidence.jsonl', 'pawl export 01J9ZC4V0Q8T7W2K5M3N6P8R1S');
};

/** Writes the evidence of jobs to a file or to the standard output, and says what its head is. */
async function run(shell: Shell, choice: Choice & { readonly jobIds: readonly string[] }): Promise<number> {
  const { console } = shell;
  const { jobIds, task = null, all, out, json = false } = choice;
  if ([jobIds.length > 0, task !== null, all].filter(Boolean).length !== 1) {
    throw new PawlError('INVALID_OPTION', { detail: 'give job ids, or --task, or --all: one of them' });
  }
  const store = await openStore(await storeOf(choice, shell), { clock: systemClock, migrations: 'verify' });
  const progress = showProgress(console, { json, what: 'jobs exported' });
  try {
    const listed = jobIds.length === 0;
    const evidence = new EvidenceExport(store, listed ? jobsOf(store, task) : jobIds, {
      passOverGone: listed,
      onProgress: progress.tell,
    });
    if (out === undefined) await writeOut(console, evidence);
    else await writing(out, () => writeDurably(out, evidence));
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
