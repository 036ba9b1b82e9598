import { verifyEvidenceFile } from '../../client/evidence.js';
import { openStore } from '../../client/open-store.js';
import { systemClock } from '../../client/system-clock.js';
import { verifyStore } from '../../engine/evidence/verify-store.js';
import { PawlError } from '../../errors.js';
import { storeOf } from '../config/settings.js';
import { print, type Console } from '../console.js';
import { CHECK_FAILED } from '../exit-code.js';
import { showProgress } from '../progress.js';
import { command, examples, type Flags, type Register, type Shell } from '../shell.js';

type Choice = Flags & { readonly head?: string };

export const registerVerify: Register = (program, shell) => {
  const verified = command(
    program,
    'verify',
    'Check a file of evidence, or without one every job of the store; fails if it does not hold.',
  )
    .argument('[file]')
    .option('--head <seal>', 'the head of the file, as it was told when it was written')
    .action((file: string | undefined, options: Choice) => shell.ends(run(shell, file ?? null, options)));
  examples(verified, 'pawl verify evidence.jsonl', 'pawl verify --store postgres://localhost/app');
};

/** Checks a file of evidence, or a whole store. */
async function run(shell: Shell, file: string | null, options: Choice): Promise<number> {
  const { console } = shell;
  const { head, json = false } = options;
  if (file !== null) return verifyFile(console, { file, head: head ?? null, json });
  if (head !== undefined) throw new PawlError('INVALID_OPTION', { detail: '--head goes with a file' });
  return verifyJobs(console, { url: await storeOf(options, shell), json });
}

async function verifyFile(
  console: Console,
  { file, head, json }: { file: string; head: string | null; json: boolean },
): Promise<number> {
  const progress = showProgress(console, { json, what: 'jobs checked' });
  const verdict = await readable(file, () => verifyEvidenceFile(file, { head, onProgress: progress.tell }));
  progress.clear();
  const { holds, problem, jobs, commits, events } = verdict;
  const seen = `${jobs} jobs, ${commits} commits, ${events} events`;
  const text = holds
    ? [
        `The evidence holds: ${seen}.`,
        head === null
          ? `Its head is ${verdict.head}. Compare it with the one that was kept, or pass that as --head.`
          : 'Its head is the one that was kept.',
      ].join('\n')
    : `The evidence does not hold. ${problem}`;
  print(console, { json, data: verdict, text });
  return holds ? 0 : CHECK_FAILED;
}

async function verifyJobs(console: Console, { url, json }: { url: string; json: boolean }): Promise<number> {
  const store = await openStore(url, { clock: systemClock, migrations: 'verify' });
  const progress = showProgress(console, { json, what: 'jobs checked' });
  try {
    const verdict = await verifyStore(store, { onProgress: progress.tell });
    progress.clear();
    const { holds, jobs, commits, events, broken, brokenJobs } = verdict;
    const seen = `${jobs} jobs, ${commits} commits, ${events} events`;
    const lines = broken.map(({ jobId, problem }) => `  ${jobId}: ${problem}`);
    const text = holds
      ? `The store holds: ${seen}.`
      : [`The store does not hold: ${brokenJobs} of ${seen}.`, ...lines].join('\n');
    const named = broken.map(({ jobId: job_id, ...about }) => ({ job_id, ...about }));
    const data = { holds, jobs, commits, events, broken_jobs: brokenJobs, broken: named };
    print(console, { json, data, text });
    return holds ? 0 : CHECK_FAILED;
  } finally {
    progress.clear();
    await store.close();
  }
}

/** A file that is not there is wrong input, not evidence that does not hold. */
async function readable<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new PawlError('FILE_UNREADABLE', {
      detail: `${file} cannot be read: ${error.message}`,
      cause: error,
    });
  }
}
