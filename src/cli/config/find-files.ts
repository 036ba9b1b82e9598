import { readdirSync, statSync, type Dirent } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { PawlError } from '../../errors.js';

/** Folders that hold no code of the application's own. */
const SKIPPED = /^(node_modules|\..+)$/;

/**
 * The files that a name stands for: one, or with `*` (any name) and `**` (any folders) all that fit, in the order of
 * their names. One that stands for none is a mistake.
 */
export function findFiles(name: string, folder: string): string[] {
  const pattern = isAbsolute(name) ? relative(folder, name) : name.replace(/^\.\//, '');
  if (!pattern.includes('*')) {
    const path = resolve(folder, pattern);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return [path];
    throw missing(`there is no file ${path}`);
  }
  const parts = pattern.split('/');
  const fixed = parts.slice(
    0,
    parts.findIndex((part) => part.includes('*')),
  );
  const root = resolve(folder, ...fixed);
  const fits = patternOf(parts.slice(fixed.length).join('/'));
  const found = filesUnder(root).filter((path) => fits.test(relative(root, path).split(sep).join('/')));
  if (found.length === 0) throw missing(`no file fits ${JSON.stringify(name)} in ${folder}`);
  return found;
}

/** Every folder from this one down that may hold code of the application. None, if it is gone or may not be read. */
export function foldersUnder(root: string): string[] {
  const entries = entriesOf(root);
  if (entries === null) return [];
  const below = entries
    .filter((entry) => entry.isDirectory() && !SKIPPED.test(entry.name))
    .map(({ name }) => join(root, name));
  return [root, ...below.flatMap(foldersUnder)];
}

function filesUnder(root: string): string[] {
  return foldersUnder(root)
    .flatMap((folder) =>
      (entriesOf(folder) ?? []).filter((entry) => entry.isFile()).map(({ name }) => join(folder, name)),
    )
    .toSorted();
}

function entriesOf(folder: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return nullIfGone(error);
  }
}

const GONE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

/** What stands for a folder that has gone meanwhile, was none, or is not for us. Throws anything else. */
export function nullIfGone(error: unknown): null {
  if (GONE.has((error as NodeJS.ErrnoException).code)) return null;
  throw error;
}

function patternOf(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\?]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*/g, (stars) =>
      stars === '**/' ? '(?:[^/]+/)*' : stars === '**' ? '.*' : '[^/]*',
    );
  return new RegExp(`^${source}$`);
}

function missing(detail: string): PawlError {
  return new PawlError('FILE_UNREADABLE', { detail });
}
