import { DEFAULT_TASK, defaultTask } from '../../client/default-task.js';
import { isTask } from '../../client/made-things.js';
import type { AnyTask } from '../../client/task.js';
import { PawlError } from '../../errors.js';
import { findFiles } from './find-files.js';
import { loadModule } from './load-module.js';

/**
 * The tasks that a config or the command line names: themselves, or files that export them under any name, also in
 * lists. The task that ships is among them, unless there is one of its name.
 */
export async function loadTasks(named: readonly (AnyTask | string)[], folder: string): Promise<AnyTask[]> {
  const tasks = new Set<AnyTask>();
  for (const one of named) {
    if (typeof one !== 'string') {
      tasks.add(one);
      continue;
    }
    const found: AnyTask[] = [];
    // Of many files some may only be what the others are made of.
    for (const path of findFiles(one, folder)) found.push(...exportedTasks(await loadModule(path)));
    if (found.length === 0) {
      throw new PawlError('FILE_UNREADABLE', {
        detail: `${one} exports no task: export const order = task({ name: 'order' }, …)`,
        details: { file: one },
      });
    }
    for (const task of found) tasks.add(task);
  }
  const ownDefault = [...tasks].some(({ definition }) => definition.name === DEFAULT_TASK);
  return ownDefault ? [...tasks] : [...tasks, defaultTask];
}

function exportedTasks(module: Readonly<Record<string, unknown>>): AnyTask[] {
  return Object.values(module)
    .flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]))
    .filter(isTask);
}
