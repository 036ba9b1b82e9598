import { describe, expect, test } from 'vitest';
import { PawlError } from '../../src/errors.js';
import { trackerRig } from './tracker-rig.js';

const HOST = { step: 'copy', host: 'web-1' };
const broken = () => Promise.reject<number>(new PawlError('STORE_UNAVAILABLE', { detail: 'no' }));

describe('RST-12 a tracker that is left writes nothing over the one that goes on', () => {
  test('what it had to write is written at once, and nothing after that', async () => {
    const { kept, begin, idle, pass } = trackerRig();
    const first = await begin();
    first.hostStart(HOST);
    await idle();
    first.progress({ ...HOST, message: 'try 2 of 2 follows' });
    await first.leave();
    const left = await kept.getRun(first.runId);
    expect(left?.steps[0]?.hosts['web-1']?.message).toBe('try 2 of 2 follows');
    first.progress({ ...HOST, message: 'too late' });
    await pass(1_000);
    expect(await kept.getRun(first.runId)).toEqual(left);
    await first.leave();
  });

  test('a write that meets the other’s is dropped, and nobody is told of it', async () => {
    const { kept, faults, logged, told, begin, idle, pass } = trackerRig();
    const first = await begin();
    first.stepStart({ step: 'copy' });
    await idle();
    // On its way for long, and then too late.
    let arrive: (error: PawlError) => void = () => undefined;
    faults.push(() => new Promise((_saved, reject) => (arrive = reject)));
    first.hostStart(HOST);
    await pass(0);
    const leaving = first.leave();
    const second = await begin({ runId: first.runId, resume: true });
    second.hostStart(HOST);
    second.hostResult({ ...HOST, status: 'success' });
    await idle();
    const before = told.length;
    arrive(new PawlError('VERSION_CONFLICT', { detail: 'no' }));
    await leaving;
    await pass(60_000);
    expect((await kept.getRun(first.runId))?.steps[0]?.hosts['web-1']?.status).toBe('success');
    await second.finish({ status: 'success' });
    expect(told.slice(before).map(({ status, step }) => [status, step])).toEqual([['success', null]]);
    expect(logged).toEqual([]);
  });

  test('a store that fails meanwhile keeps nobody waiting, and has it later, unless another has written', async () => {
    const { kept, faults, logged, begin, idle, pass } = trackerRig();
    const first = await begin();
    await idle();
    faults.push(broken, broken);
    first.stepStart({ step: 'copy', message: 'waits for go' });
    await first.leave();
    expect((await kept.getRun(first.runId))?.steps).toEqual([]);
    for (let tries = 0; tries < 3; tries++) await pass(1_000);
    expect((await kept.getRun(first.runId))?.steps).toMatchObject([{ message: 'waits for go' }]);
    expect(logged).toEqual([
      'the state of a run could not be saved, and is tried again',
      'the state of a run is saved again',
    ]);
  });

  test('what it finds while it catches up may be the other’s already', async () => {
    const { kept, store, faults, logged, begin, idle, pass } = trackerRig();
    const first = await begin({
      store: {
        ...store,
        updateRun: (patch, version) => store.updateRun(patch, version),
        getRun: async (id) => {
          await other();
          return kept.getRun(id);
        },
      },
    });
    await idle();
    const other = async (): Promise<void> => {
      void first.leave();
      const second = await begin({ runId: first.runId, resume: true });
      second.hostResult({ ...HOST, status: 'success' });
      await second.flush();
      await second.leave();
    };
    faults.push(() => Promise.reject<number>(new PawlError('VERSION_CONFLICT', { detail: 'no' })));
    first.hostStart(HOST);
    await pass(60_000);
    expect((await kept.getRun(first.runId))?.steps[0]?.hosts['web-1']?.status).toBe('success');
    expect(logged).toEqual([]);
  });
});
