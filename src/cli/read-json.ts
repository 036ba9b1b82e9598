import { readFileSync } from 'node:fs';
import { PawlError } from '../errors.js';
import type { Shell } from './shell.js';

/** A value that was written as JSON. `what` names it in the error. */
export function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : '';
    throw new PawlError('INVALID_INPUT', { detail: `${what} is not JSON: ${problem}`, cause });
  }
}

/** An input from the argument, from a file, or from standard input where the argument is `-`; null if there is none. */
export async function readInputValue(
  { console }: Pick<Shell, 'console'>,
  { argument, file }: { argument: string | undefined; file: string | undefined },
): Promise<unknown> {
  if (argument !== undefined && file !== undefined) {
    throw new PawlError('INVALID_OPTION', {
      detail: 'the input is given twice, as an argument and as a file',
    });
  }
  if (file !== undefined) return readJson(contentOf(file), `the input in ${file}`);
  if (argument === '-') return readJson((await console.readInput?.()) ?? '', 'the input');
  return argument === undefined ? null : readJson(argument, 'the input');
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const detail = `cannot read ${file} (${cause instanceof Error && 'code' in cause ? String(cause.code) : 'failed'})`;
    throw new PawlError('FILE_UNREADABLE', { detail, cause });
  }
}
