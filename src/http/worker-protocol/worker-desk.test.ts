import { expect, test } from 'vitest';
import { Pawl } from '../../client/app.js';
import { task } from '../../client/task.js';
import { advanceUntil, testApp } from '../../testkit/index.js';
import { WorkerDesk } from './worker-desk.js';

test('a server that remote workers rely on sees to the retention of what they have finished', async () => {
  const rig = await testApp({ work: false });
  const { engine } = Pawl.inside(rig.app);
  const desk = new WorkerDesk(engine, { seesToUpkeep: () => true, retention: { keep: '2m' } });
  const { job } = await rig.app.start(
    task({ name: 'job' }, () => undefined),
    null,
  );
  await job.cancel();
  desk.hear({ leaseMs: 30_000 });
  const isGone = async () => (await rig.store.load(job.id)).found === null;
  await advanceUntil(rig.clock, isGone, { atMost: '10m' });
  expect((await rig.app.counts()).cancelled).toBeUndefined();
  await desk.close();
  await rig.stop();
});
