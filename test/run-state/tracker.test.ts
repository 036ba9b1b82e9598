import { describe, expect, test } from 'vitest';
import { PawlError } from '../../src/errors.js';
import type { RunStateStore } from '../../src/ports/run-state-store.js';
import { composeRecorders } from '../../src/tracker/compose-recorders.js';
import { markInterrupted } from '../../src/tracker/mark-interrupted.js';
import { trackerRig } from './tracker-rig.js';

const broken = (code: 'STORE_UNAVAILABLE' | 'VERSION_CONFLICT') => () =>
  Promise.reject<number>(new PawlError(code, { detail: 'no' }));

describe('the tracker', () => {
  test('RST-6 it makes the run_id, writes what it is told as patches, and tells the notifier', async () => {
    const { kept, told, begin, idle } = trackerRig();
    const tracker = await begin();
    await idle();
    expect(tracker.runId).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    tracker.stepStart({ step: 'copy' });
    tracker.hostStart({ step: 'copy', host: 'web-1' });
    await idle();
    const error = { code: 'EXIT_1', message: 'no space' };
    tracker.hostResult({ step: 'copy', host: 'web-1', status: 'failed', message: 'exit 1', error });
    tracker.stepFinish({ step: 'copy', status: 'failed' });
    expect(await tracker.finish({ status: 'failed', message: 'copy failed', error })).toBe(true);
    const run = await kept.getRun(tracker.runId);
    expect(run).toMatchObject({
      workflow_name: 'deploy',
      status: 'failed',
      message: 'copy failed',
      last_error: error,
      version: 4,
      steps: [
        { name: 'copy', status: 'failed', hosts: { 'web-1': { status: 'failed', message: 'exit 1' } } },
      ],
    });
    await tracker.notified();
    expect(told.map(({ status, step, host, version }) => [status, step, host, version])).toEqual([
      ['running', null, null, 2],
      ['running', 'copy', null, 3],
      ['running', 'copy', 'web-1', 3],
      ['failed', 'copy', 'web-1', 4],
      ['failed', 'copy', null, 4],
      ['failed', null, null, 4],
    ]);
    expect(Object.keys(told[0] ?? {}).toSorted()).toEqual(
      ['run_id', 'workflow_name', 'status', 'step', 'host', 'timestamp', 'error', 'version'].toSorted(),
    );
  });

  test('RST-6 an id that is taken is refused before anything runs; a malformed one too', async () => {
    const { begin } = trackerRig();
    const first = await begin({ runId: 'run_mine_1' });
    await first.finish({ status: 'success' });
    await expect(begin({ runId: 'run_mine_1' })).rejects.toMatchObject({ code: 'JOB_EXISTS' });
    await expect(begin({ runId: 'run_mine_1', resume: true })).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
    });
    await expect(begin({ runId: '../etc' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  test('RST-12 changes of status are written at once; output and progress wait for the throttle, and share a write', async () => {
    const { begin, patches, pass, idle, kept } = trackerRig();
    const tracker = await begin();
    tracker.stepStart({ step: 'build' });
    tracker.hostStart({ step: 'build', host: 'a' });
    await idle();
    const before = patches.length;
    for (let n = 0; n < 100; n++) {
      tracker.output({ step: 'build', host: 'a', text: `line ${n}\n` });
      tracker.progress({ step: 'build', host: 'a', message: `${n} %` });
    }
    await pass(249);
    expect(patches.length).toBe(before);
    await pass(1);
    expect(patches.length).toBe(before + 1);
    const host = (await kept.getRun(tracker.runId))?.steps[0]?.hosts['a'];
    expect(host?.output?.endsWith('line 99\n')).toBe(true);
    expect(host?.message).toBe('99 %');
    // Only what is new goes over the wire.
    tracker.progress({ step: 'build', host: null, message: 'half' });
    tracker.hostStart({ step: 'build', host: 'b' });
    await idle();
    expect(patches.length).toBe(before + 2);
    expect(patches.at(-1)?.steps).toEqual([
      {
        name: 'build',
        message: 'half',
        hosts: { b: { status: 'running', started_at: expect.any(String) as string } },
      },
    ]);
    await tracker.finish({ status: 'success' });
  });

  test('RST-12 after a write that took long, changes of status share the next one; the end waits for nothing', async () => {
    const { begin, clock, store, patches, pass, idle, kept } = trackerRig();
    const slow: RunStateStore = {
      ...store,
      async updateRun(patch, version) {
        await new Promise<void>((resolve) => void clock.after(20, resolve));
        return store.updateRun(patch, version);
      },
    };
    const tracker = await begin({ store: slow });
    await pass(20);
    const before = patches.length;
    for (const host of ['a', 'b', 'c']) {
      tracker.hostStart({ step: 'build', host });
      await pass(20);
    }
    expect(patches.length, 'at rest for four times 20 ms').toBe(before);
    await pass(20);
    await pass(20);
    expect(patches.length).toBe(before + 1);
    expect(Object.keys((await kept.getRun(tracker.runId))?.steps[0]?.hosts ?? {})).toEqual(['a', 'b', 'c']);
    const finished = tracker.finish({ status: 'success' });
    await idle();
    await pass(20);
    expect(await finished).toBe(true);
  });

  test('RST-12 output is cut to 64 KiB, and says so', async () => {
    const { begin, kept } = trackerRig();
    const tracker = await begin();
    tracker.hostStart({ step: 'build', host: 'a' });
    for (let n = 0; n < 3_000; n++) tracker.output({ step: 'build', host: 'a', text: `${'é'.repeat(20)}\n` });
    tracker.hostResult({ step: 'build', host: 'a', status: 'success' });
    await tracker.finish({ status: 'success' });
    const { output = null, output_truncated } =
      (await kept.getRun(tracker.runId))?.steps[0]?.hosts['a'] ?? {};
    expect(Buffer.byteLength(output ?? '')).toBeGreaterThan(64 * 1024 - 2);
    expect(Buffer.byteLength(output ?? '')).toBeLessThanOrEqual(64 * 1024);
    expect(output).not.toContain('�');
    expect(output_truncated).toBe(true);
  });

  test('RST-6 a store that fails does not hold up the run: it is logged once, and what it missed is written later', async () => {
    const { begin, faults, logged, pass, kept, told } = trackerRig();
    const tracker = await begin();
    await pass(0);
    faults.push(broken('STORE_UNAVAILABLE'), broken('STORE_UNAVAILABLE'), broken('STORE_UNAVAILABLE'));
    tracker.stepStart({ step: 'one' });
    await pass(0);
    tracker.stepFinish({ step: 'one', status: 'success' });
    for (let n = 0; n < 4; n++) await pass(400);
    expect((await kept.getRun(tracker.runId))?.steps).toMatchObject([{ name: 'one', status: 'success' }]);
    expect(logged).toEqual([
      'the state of a run could not be saved, and is tried again',
      'the state of a run is saved again',
    ]);
    // The notifier heard of it meanwhile, with the version that was there.
    expect(told.map(({ status, step, version }) => [status, step, version])).toEqual([
      ['running', null, 2],
      ['running', 'one', 2],
      ['success', 'one', expect.any(Number)],
    ]);
    await tracker.finish({ status: 'success' });
  });

  test('RST-6 a store that cannot even create the run gets it when it is back', async () => {
    const { begin, store, kept, pass } = trackerRig();
    let down = true;
    const flaky = {
      ...store,
      createRun: (run: Parameters<RunStateStore['createRun']>[0]) =>
        down ? Promise.reject(new Error('down')) : kept.createRun(run),
    };
    const tracker = await begin({ store: flaky, runId: 'run_late_1' });
    tracker.stepStart({ step: 'one' });
    down = false;
    await pass(100);
    expect(await kept.getRun('run_late_1')).toMatchObject({ status: 'running', steps: [{ name: 'one' }] });
    await tracker.finish({ status: 'success' });
  });

  test('RST-6 a store that was down for the whole of a short run has its beginning and its end', async () => {
    const { begin, faults, kept, patches, pass } = trackerRig();
    faults.push(broken('STORE_UNAVAILABLE'), broken('STORE_UNAVAILABLE'));
    const tracker = await begin();
    const finished = tracker.finish({ status: 'success' });
    await pass(100);
    await pass(200);
    expect(await finished).toBe(true);
    expect((await kept.getRun(tracker.runId))?.status).toBe('success');
    expect(patches.map(({ status }) => status)).toEqual(['running', 'success']);
  });

  test('RST-6 a store that never comes back: the run ends, and the log says that its end is not saved', async () => {
    const { begin, store, clock, logged, idle } = trackerRig();
    const dead = { ...store, updateRun: () => Promise.reject(new Error('down')) };
    const tracker = await begin({ store: dead });
    const finished = tracker.finish({ status: 'success' });
    for (let n = 0; n < 12; n++) {
      await idle();
      clock.advance(10_000);
    }
    expect(await finished).toBe(false);
    expect(logged).toContain('the end of a run could not be saved');
    await tracker.notified();
  });

  test('RST-6 a store that never answers is one that fails', async () => {
    const { begin, faults, kept, pass } = trackerRig();
    const tracker = await begin();
    await pass(0);
    faults.push(() => new Promise<number>(() => undefined));
    tracker.stepStart({ step: 'one' });
    await pass(30_000);
    await pass(100);
    expect((await kept.getRun(tracker.runId))?.steps).toMatchObject([{ name: 'one' }]);
    await tracker.finish({ status: 'success' });
  });

  test('RST-2 a conflict is read again and the change applied to what is there; nobody’s change is lost', async () => {
    const { begin, kept, pass, told } = trackerRig();
    const tracker = await begin();
    await pass(0);
    await kept.updateRun({ run_id: tracker.runId, updated_at: 'x', message: 'from elsewhere' }, 2);
    tracker.stepStart({ step: 'one' });
    await pass(100);
    expect(await kept.getRun(tracker.runId)).toMatchObject({
      version: 4,
      message: 'from elsewhere',
      steps: [{ name: 'one' }],
    });
    expect(told.at(-1)).toMatchObject({ step: 'one', version: 4 });
    await tracker.finish({ status: 'success' });
  });

  test('RST-2 a run that another has ended is left alone, and the log says so', async () => {
    const { begin, kept, pass, logged, store, clock, log } = trackerRig();
    const tracker = await begin();
    await pass(0);
    expect(await markInterrupted(store, 'restart', { clock, log })).toEqual([tracker.runId]);
    tracker.stepStart({ step: 'one' });
    await pass(100);
    expect(logged).toEqual(['the state of a run is not kept any more']);
    expect(await tracker.finish({ status: 'success' })).toBe(false);
    expect(await kept.getRun(tracker.runId)).toMatchObject({ status: 'interrupted', steps: [] });
  });
});

test('RST-6 recorders are composed: each hears everything, and one that throws harms neither the others nor the run', async () => {
  const { begin, kept, log, logged } = trackerRig();
  const tracker = await begin();
  const lines: string[] = [];
  const faulty = {
    stepStart: () => {
      throw new Error('a bug');
    },
  };
  const all = composeRecorders([faulty, tracker, { stepStart: ({ step }) => lines.push(step) }], { log });
  all.stepStart({ step: 'one' });
  all.stepFinish({ step: 'one', status: 'success' });
  expect(lines).toEqual(['one']);
  expect(logged).toEqual(['a recorder failed']);
  await tracker.finish({ status: 'success' });
  expect((await kept.getRun(tracker.runId))?.steps).toMatchObject([{ name: 'one', status: 'success' }]);
  // Switched off, there is nobody to hear it, and nothing else changes.
  expect(() => composeRecorders([], { log }).runFinish({ status: 'success' })).not.toThrow();
});
