import { PawlError, type ErrorCode } from '../../errors.js';
import type { RunStateStore } from '../../ports/run-state-store.js';
import { idsInOrder, pageOf } from '../run-states/matching-runs.js';
import { tableRunStates } from '../run-states/table-run-states.js';
import { RunFiles, type RunFilesOptions } from './run-files.js';

/**
 * Run states in a folder: for each run one JSON file that a person can read. A change replaces the file as a whole and is on
 * the disk when it is acknowledged. Lists read every file, so this is for hundreds of runs, not for millions.
 */
export async function fileRunStates(options: RunFilesOptions): Promise<RunStateStore> {
  const { folder } = options;
  const files = new RunFiles(options);
  const readable = (runId: string) => files.readUnlessUnreadable(runId);
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
    list: (query) => told(files.ids().then((ids) => pageOf(idsInOrder(ids, query), query, readable))),
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
