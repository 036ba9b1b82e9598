import { deepStrictEqual, equal } from 'node:assert/strict';
import { command } from '../sample-commands.js';
import type { Topic } from './rig.js';

export const fencing: Topic = {
  name: 'fencing',
  cases: {
    'GUA-2 a write by an attempt that is no longer the current one changes nothing': async (rig) => {
      const { attemptId } = await rig.running('job_fence_1');
      const held = { attemptId: attemptId ?? '' };
      const late = await rig.prepare('job_fence_1', command('complete', held), held);
      await rig.give(
        'job_fence_1',
        command('interrupt', { ...held, cause: { reason: 'lease_expired', leaseUntil: null } }),
      );
      const before = await rig.load('job_fence_1');
      deepStrictEqual((await rig.store.commit([late])).replies, [{ ok: false, code: 'REV_TAKEN' }]);
      deepStrictEqual(await rig.load('job_fence_1'), before);
    },
    'GUA-2 it is refused by its attempt too, should the revision fit': async (rig) => {
      const { attemptId } = await rig.running('job_fence_2');
      const held = { attemptId: attemptId ?? '' };
      const late = await rig.prepare('job_fence_2', command('complete', held), held);
      await rig.give('job_fence_2', command('interrupt', { ...held, cause: { reason: 'drained' } }));
      await rig.claim('worker-b');
      const { job } = await rig.load('job_fence_2');
      const replies = (await rig.store.commit([{ ...late, rev: job.rev + 1 }])).replies;
      deepStrictEqual(replies, [{ ok: false, code: 'ATTEMPT_GONE' }]);
      equal((await rig.load('job_fence_2')).job.status, 'running');
    },
    'a step record of a worker that lost its job is refused by the log alone': async (rig) => {
      const { attemptId } = await rig.running('job_fence_3');
      const held = { attemptId: attemptId ?? '' };
      const late = await rig.prepare('job_fence_3', command('record-step', held));
      equal(late.job, null);
      await rig.give('job_fence_3', command('cancel'));
      deepStrictEqual((await rig.store.commit([late])).replies, [{ ok: false, code: 'REV_TAKEN' }]);
    },
    'whoever cancels a job sees the step records that its row lags behind': async (rig) => {
      const { attemptId } = await rig.running('job_fence_4');
      const step = await rig.prepare('job_fence_4', command('record-step', { attemptId: attemptId ?? '' }));
      const cancel = await rig.prepare('job_fence_4', command('cancel'));
      await rig.store.commit([step]);
      deepStrictEqual((await rig.store.commit([cancel])).replies, [{ ok: false, code: 'REV_TAKEN' }]);
      equal((await rig.give('job_fence_4', command('cancel'))).ok, true);
      equal((await rig.load('job_fence_4')).job.status, 'cancelled');
    },
  },
};
