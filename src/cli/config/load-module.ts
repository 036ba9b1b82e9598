import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PawlError } from '../../errors.js';

const TYPESCRIPT = /\.m?ts$/;
let registered = false;

/** Runs a module of the application, in JavaScript or TypeScript, and answers with what it exports. */
export async function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (TYPESCRIPT.test(path) && !registered) {
    registered = true;
    register('./typescript-hooks.js', import.meta.url);
  }
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    // What is wrong with a task or a schedule says so itself.
    if (cause instanceof PawlError) throw cause;
    throw new PawlError('FILE_UNREADABLE', {
      detail: `cannot load ${path}: ${messageOf(cause)}`,
      cause,
      details: { file: path },
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
