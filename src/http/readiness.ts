import type { Engine } from '../engine/engine.js';
import { PawlError } from '../errors.js';

/** A store that takes longer to answer the simplest question holds up everything else too. */
const PATIENCE_MS = 2_000;

/** No job has it: jobs are looked at, and nothing is read. */
const NO_JOB = 'job_of_nobody';

/** Throws NOT_READY, or what the store says, if work cannot progress here. `isWorking` null: no worker is meant to. */
export async function expectReady(engine: Engine, isWorking: boolean | null): Promise<void> {
  const { store } = engine;
  await within(engine, Promise.all([store.pausedQueues(), store.load(NO_JOB)]));
  if (isWorking === false) {
    throw new PawlError('NOT_READY', {
      detail: 'the worker has lost its lease, or its claims are not answered',
    });
  }
}

async function within(engine: Engine, answer: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = engine.alarms.set(PATIENCE_MS, () => {
      reject(new PawlError('NOT_READY', { detail: `the store has not answered for ${PATIENCE_MS} ms` }));
    });
  });
  try {
    await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}
