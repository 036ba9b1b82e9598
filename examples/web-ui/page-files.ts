import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

export type PageFile = { readonly type: string; readonly content: Buffer };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the page by their addresses, read once: no address can lead out of the folder. */
export async function pageFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const content = await readFile(join(folder, name));
    files.set(name === 'index.html' ? '/' : `/${name}`, { type, content });
  }
  return files;
}
