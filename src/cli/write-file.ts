import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { PawlError } from '../errors.js';

/** Does the work of writing a file. What the system says no to is FILE_UNWRITABLE; whatever else goes wrong stays what it is. */
export async function writing<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isOfSystem(cause)) throw cause;
    const detail = `cannot write ${file} (${cause.code ?? cause.message})`;
    throw new PawlError('FILE_UNWRITABLE', { detail, cause, details: { file } });
  }
}

/** Throws FILE_UNWRITABLE for a place where no file can be written: before long work is done for it. Nothing is made. */
export function expectWritable(file: string): Promise<void> {
  return writing(file, () => {
    if (existsSync(file)) closeSync(openSync(file, 'r+'));
    else expectFolder(dirname(file));
  });
}

/** Throws what the system says about a folder that is not there, is none, or may not be written. */
export function expectFolder(folder: string): void {
  accessSync(`${folder}/.`, constants.W_OK);
}

export function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
