import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pawl, systemClock, type Clock, type Pawl, type Recorder } from '../../src/index.js';
import { applyTask } from '../../src/runner/apply-task.js';
import { loadWorkflowText } from '../../src/runner/index.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { applyText, newFolder, SILENT } from './apply-text.js';

const HOUR_MS = 3_600_000;

/** This machine's time, and the same timers, under another date. */
const offBy = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

/** Why a workflow failed that is carried out here by one clock, and recorded in a store that has another. */
async function failureOf(text: string, { clock, recorder }: { clock: Clock; recorder: Recorder }) {
  const { source } = await loadWorkflowText(`version: 1\nname: test\n${text}`, {
    file: 'test.yaml',
    folder: newFolder(),
  });
  const claimedAt = async (id: string): Promise<number | null> => (await app.job(id).status()).claimedAt;
  const parts = { runs: null, recorders: [recorder], parallel: 5, claimedAt, clock, log: SILENT };
  const task = applyTask(parts);
  const store = memoryStore({ clock: systemClock });
  const app: Pawl = await pawl({ store, tasks: [task], clock, log: SILENT });
  onTestFinished(() => app.close());
  const { job } = await app.start(task, source);
  await app.work({ stopOnSignal: false });
  await job.result().catch(() => undefined);
  return (await job.status()).failure?.message;
}

describe('RST-13 wait.until and clocks', () => {
  test.each([
    ['ahead of', HOUR_MS],
    ['behind', -HOUR_MS],
  ])('a clock here that is %s the store’s makes the wait no shorter, and no longer', async (_title, off) => {
    const ready = join(newFolder(), 'ready');
    const failure = await failureOf(
      `steps:
  - { name: ready, action: wait.until, args: { cmd: [test, -f, '${ready}'], every: 20ms } }
  - { name: never, action: wait.until, timeout: 300ms, args: { cmd: [test, -f, '${ready}.not'], every: 20ms } }`,
      {
        clock: offBy(off),
        // It comes true only after the first answer was no.
        recorder: { progress: () => writeFileSync(ready, '') },
      },
    );
    expect(failure).toContain("step 'never' failed on local: not in time");
  });

  test('what had passed before a run was interrupted counts: it has the rest of the time afterwards', async () => {
    const folder = newFolder();
    const store = `sqlite:${join(folder, 'pawl.db')}`;
    const run = { folder, store, runs: store, runId: 'run_waits_1' };
    const text = `steps: [{ name: s, action: wait.until, targets: a, timeout: 1h, args: { cmd: ['false'], every: 20ms } }]`;
    const stop = new AbortController();
    const first = await applyText(text, {
      ...run,
      signal: stop.signal,
      drain: '1ms',
      recorders: [{ progress: () => stop.abort() }],
    });
    expect(first.status).toBe('running');
    const again = await applyText(text, { ...run, clock: offBy(HOUR_MS + 60_000) });
    expect(again.run?.message).toContain("step 's' failed on a: not in time");
  });
});
