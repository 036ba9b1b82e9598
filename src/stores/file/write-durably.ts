import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

let written = 0;

/**
 * Writes a file so that it is there whole or not at all, whatever happens meanwhile: beside its place first, then onto the
 * disk, then into its place. Several processes may write the same file at once; one of them is last. `nameOf` may depend on
 * what was written.
 */
export async function writeDurably(
  path: string,
  chunks: AsyncIterable<string> | Iterable<string>,
  nameOf: () => string = () => path,
): Promise<void> {
  const partial = await writePartial(path, chunks);
  try {
    await rename(partial, nameOf());
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Writes beside a file's place, onto the disk, and answers with where that is. */
export async function writePartial(
  path: string,
  chunks: AsyncIterable<string> | Iterable<string>,
): Promise<string> {
  const { file, partial } = await openPartial(path);
  try {
    try {
      await writeAll(file, chunks);
      await file.sync();
    } finally {
      await file.close();
    }
    return partial;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** What a crash left behind may have any name: in a container, every process has the same id. */
async function openPartial(path: string): Promise<{ file: FileHandle; partial: string }> {
  for (;;) {
    written += 1;
    const partial = `${path}.${process.pid}-${written}.partial`;
    try {
      return { file: await open(partial, 'wx'), partial };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** A line at a time would be a call to the system for each. */
const CHUNK = 256 * 1024;

async function writeAll(
  file: { writeFile(data: string): Promise<void> },
  chunks: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  let gathered = '';
  for await (const chunk of chunks) {
    gathered += chunk;
    if (gathered.length < CHUNK) continue;
    await file.writeFile(gathered);
    gathered = '';
  }
  await file.writeFile(gathered);
}

/** A name is durable once its folder is. Windows has no such call, and needs none. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
