import { expect, onTestFinished } from 'vitest';
import type { RunCallback, RunPatch } from '../../src/contracts/index.js';
import type { Logger } from '../../src/ports/logger.js';
import type { Notifier } from '../../src/ports/notifier.js';
import type { RunStateStore } from '../../src/ports/run-state-store.js';
import { memoryRunStates } from '../../src/stores/memory/run-states.js';
import { fakeClock, prng, T0 } from '../../src/testkit/index.js';
import { RunTracker, type TrackerOptions } from '../../src/tracker/run-tracker.js';

/** A tracker over a store in memory whose updates can be made to fail, with all that it says. */
export function trackerRig({
  notify,
  detail = 'host',
}: { notify?: Notifier['notify']; detail?: Notifier['detail'] & string } = {}) {
  const clock = fakeClock(T0);
  const kept = memoryRunStates();
  const patches: RunPatch[] = [];
  const faults: (() => Promise<number> | null)[] = [];
  const store: RunStateStore = {
    ...kept,
    updateRun(patch, version) {
      const fault = faults.shift()?.() ?? null;
      if (fault) return fault;
      patches.push(patch);
      return kept.updateRun(patch, version);
    },
  };
  const logged: string[] = [];
  const line = (message: string): void => void logged.push(message);
  const log: Logger = { debug: line, info: line, warn: line, error: line };
  const told: RunCallback[] = [];
  const notifier: Notifier = { detail, notify: notify ?? ((change) => void told.push(change)) };
  const begin = (more: Partial<TrackerOptions> = {}): Promise<RunTracker> =>
    RunTracker.begin({
      store,
      workflowName: 'deploy',
      notifier,
      clock,
      random: prng(1),
      log,
      throttleMs: 250,
      mostOutputBytes: 64 * 1024,
      ...more,
    });
  // Whatever is under way in the store ends within a few turns.
  const idle = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    await idle();
    clock.advance(ms);
    await idle();
  };
  onTestFinished(async () => {
    await idle();
    expect(clock.pending, 'timers left').toBe(0);
  });
  return { clock, kept, store, patches, faults, logged, log, told, begin, idle, pass };
}
