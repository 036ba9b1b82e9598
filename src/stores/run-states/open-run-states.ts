import type { RunStateStore } from '../../ports/run-state-store.js';

/** A store of run states that holds something open, and lets go of it. */
export type OpenRunStates = RunStateStore & { close(): Promise<void> };
