import type { Bug } from './bug.js';
import { ENGINE_BUGS } from './engine-bugs.js';
import { KERNEL_BUGS } from './kernel-bugs.js';
import { STORE_BUGS } from './store-bugs.js';
import { WORKER_BUGS } from './worker-bugs.js';

/** Protocol bugs that the simulator must notice (invariant 30). */
export const BUGS: readonly Bug[] = [...KERNEL_BUGS, ...STORE_BUGS, ...ENGINE_BUGS, ...WORKER_BUGS];

/** A few that CI plants: one of each kind, and one that only the world outside shows. All are found within seconds. */
export const SAMPLE_BUGS: readonly string[] = [
  'retry not counted',
  'ack before commit',
  'end of a child lost',
  'replay out of order',
  'an old denial counts for later entries',
];
