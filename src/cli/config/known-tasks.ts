import type { TaskDefinition } from '../../worker/task-definition.js';
import type { Flags, Shell } from '../shell.js';
import { oneLine } from '../console.js';
import { didYouMean } from '../../engine/did-you-mean.js';
import { loadTasks } from './load-tasks.js';
import { configOf } from './settings.js';

/** The tasks that the config has, by name. That `wanted` is none of them is said, and no more: it may be another application's. */
export async function knownTasks(
  shell: Shell,
  options: Flags,
  wanted: string,
): Promise<ReadonlyMap<string, TaskDefinition>> {
  const { config, folder } = await configOf(options, shell);
  const known = config.tasks === undefined ? [] : await loadTasks(config.tasks, folder);
  const tasks = new Map(known.map(({ definition }) => [definition.name, definition]));
  if (tasks.size > 0 && !tasks.has(wanted) && options.json !== true) {
    const meant = didYouMean(wanted, [...tasks.keys()]);
    shell.console.err(
      `${oneLine(`The config has no task '${wanted}'${meant}: somebody else has to run it.`)}\n`,
    );
  }
  return tasks;
}
