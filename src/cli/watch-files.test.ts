import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { foldersUnder } from './config/find-files.js';
import { watchFiles } from './watch-files.js';

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-watch-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a folder that is removed under its watcher ends nothing, and one of its name that comes later is watched', async () => {
  const root = newFolder();
  const deep = join(root, 'tasks', 'deep');
  mkdirSync(deep, { recursive: true });
  const changed = new Set<string>();
  const watching = watchFiles([join(root, 'pawl.config.ts')], (file) => void changed.add(file));
  onTestFinished(() => watching.close());
  /** What is in a new folder before it is watched goes unnoticed, so it is written until it is not. */
  const isHeard = async (file: string): Promise<void> => {
    const write = (): boolean => {
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, '');
      return changed.has(file);
    };
    await expect.poll(write, { interval: 300 }).toBe(true);
  };
  await isHeard(join(deep, 'a.ts'));
  for (const name of ['b.ts', 'c.ts']) {
    rmSync(join(root, 'tasks'), { recursive: true });
    await isHeard(join(deep, name));
  }
  await isHeard(join(root, 'd.ts'));
});

test('what is gone, or no folder, has no folders under it', () => {
  const root = newFolder();
  mkdirSync(join(root, 'a', 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'file.ts'), '');
  expect(foldersUnder(root)).toEqual([root, join(root, 'a')]);
  expect(foldersUnder(join(root, 'b'))).toEqual([]);
  expect(foldersUnder(join(root, 'file.ts'))).toEqual([]);
});
