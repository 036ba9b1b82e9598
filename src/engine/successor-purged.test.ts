import { describe, expect, onTestFinished, test } from 'vitest';
import { goOn } from '../../test/go-on.js';
import { onEveryStore } from '../../test/on-every-store.js';
import type { JobHandle } from '../client/job-handle.js';
import { effect } from '../client/effect.js';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, fakeClock, T0, testApp, type FakeClock } from '../testkit/index.js';

/** An order that has charged and was cancelled, on a store that is looked after. */
async function cancelled(clock: FakeClock, store: Store) {
  const entered: string[] = [];
  const charge = effect<string, string>({
    name: 'charge',
    run: (what) => (entered.push(what), `paid ${what}`),
  });
  const order = task({ name: 'order' }, async ({ step }) => {
    const paid = await step.effect('charge', charge, 'goods');
    await step.sleep('transit', '2h');
    return paid;
  });
  const rig = await testApp({ tasks: [order], clock, store, retention: { keep: '1h' } });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  await rig.idle();
  await job.cancel();
  return { rig, job, entered };
}

onEveryStore((fresh) => {
  describe('a purge in the moment of a requeue', () => {
    test('GUA-14 it comes just after the old job was found not to be gone on with: that is kept', async () => {
      const clock = fakeClock(T0);
      const inner = await fresh.store(clock);
      let oldId = '';
      let next: JobHandle | null = null;
      const purge: Store['purge'] = async (asked) => {
        if (asked.jobs.some(({ jobId }) => jobId === oldId)) next ??= await goOn(rig, { id: oldId });
        return inner.purge(asked);
      };
      const { rig, job, entered } = await cancelled(clock, { ...inner, purge });
      oldId = job.id;
      await advanceUntil(clock, async () => next !== null);
      const ended = await rig.ended(next as unknown as JobHandle);
      expect(ended).toMatchObject({ status: 'succeeded', result: '"paid goods"' });
      expect(entered).toEqual(['goods']);
    });

    test('GUA-14 it comes just before the new job is saved: whoever asks is told, and there is none', async () => {
      const clock = fakeClock(T0);
      const inner = await fresh.store(clock);
      let oldId = '';
      const commit: Store['commit'] = async (items) => {
        const gone = items.some(({ job }) => job?.spec.continues?.jobId === oldId);
        if (gone) await inner.purge({ jobs: [{ jobId: oldId, guard: null, place: null }], identityTtlMs: 0 });
        return inner.commit(items);
      };
      const { rig, job } = await cancelled(clock, { ...inner, commit });
      oldId = job.id;
      await expect(goOn(rig, job)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
      const page = { tenantId: null, statuses: null, task: null, limit: 9, cursor: null };
      expect((await inner.list(page)).rows).toEqual([]);
    });
  });
});
