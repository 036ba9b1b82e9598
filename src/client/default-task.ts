import { task } from './task.js';

/** The name of the task that runs where none was named. */
export const DEFAULT_TASK = 'default';

/** The task that ships: it records its payload, and returns it. */
export const defaultTask = task({ name: DEFAULT_TASK }, ({ input, step }) => step.run('record', () => input));
