import { PawlError, type ErrorCode } from '../../errors.js';
import type { StoreClock } from '../../ports/clock.js';
import type { RunStateStore } from '../../ports/run-state-store.js';
import { idsInOrder, pageOf } from '../run-states/matching-runs.js';
import { tableRunStates } from '../run-states/table-run-states.js';
import { RunFiles } from './run-files.js';

/**
 * Run states in a folder: for each run one JSON file that a person can read. A change replaces the file as a whole and is on
 * the disk when it is acknowledged. Lists read every file, so this is for hundreds of runs, not for millions.
 */
export async function fileRunStates({
  folder,
  clock,
}: {
  folder: string;
  clock: Pick<StoreClock, 'now'>;
}): Promise<RunStateStore> {
  const files = new RunFiles(folder, clock);
  const told = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      throw storeError(error, folder);
    }
  };
  await told(files.prepare());
  return tableRunStates({
    insert: (snapshot) => told(files.insert(snapshot)),
    replace: (snapshot, version) => told(files.replace(snapshot, version)),
    read: (runId) => told(files.read(runId)),
    list: (query) =>
      told((async () => pageOf(idsInOrder(await files.ids(), query), query, (runId) => files.read(runId)))()),
  });
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'STORE_FULL',
  EDQUOT: 'STORE_FULL',
  EROFS: 'STORE_READ_ONLY',
  EACCES: 'STORE_READ_ONLY',
  EPERM: 'STORE_READ_ONLY',
};

/** Errors of the file system become ours; what our own code threw stays what it is. */
function storeError(error: unknown, folder: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof PawlError || code === undefined || syscall === undefined) return error;
  return new PawlError(CODES[code] ?? 'STORE_UNAVAILABLE', { detail: `${folder}: ${message}`, cause: error });
}
