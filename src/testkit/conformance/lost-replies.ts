import { deepStrictEqual, equal } from 'node:assert/strict';
import { command } from '../sample-commands.js';
import type { Topic } from './rig.js';

/** Something was saved, and whoever asked for it never heard of it. */
export const lostReplies: Topic = {
  name: 'lost replies',
  cases: {
    'a commit that is sent again gets its first answer, whatever happened since': async (rig) => {
      const { attemptId } = await rig.running('job_lost_1');
      const done = await rig.prepare('job_lost_1', command('record-step', { attemptId: attemptId ?? '' }), {
        attemptId: attemptId ?? '',
      });
      await rig.store.commit([done]);
      await rig.give('job_lost_1', command('cancel'));
      deepStrictEqual((await rig.store.commit([done])).replies, [{ ok: true, repeated: true }]);
      equal((await rig.commits('job_lost_1')).length, 4);
    },
    'a claim leaves no job with a worker that does not know it: the heartbeat tells, and it is handed back':
      async (rig) => {
        await rig.create('job_lost_2');
        await rig.claim('worker-a');
        const { held } = await rig.store.beat({ worker: rig.worker('worker-a'), leaseMs: 30_000, lanes: [] });
        equal(held.length, 1);
        const stranger = held[0];
        await rig.give(
          stranger?.jobId ?? '',
          command('interrupt', { attemptId: stranger?.attemptId ?? '', cause: { reason: 'drained' } }),
        );
        deepStrictEqual(
          (await rig.store.beat({ worker: rig.worker('worker-a'), leaseMs: 30_000, lanes: [] })).held,
          [],
        );
        const { jobs } = await rig.claim('worker-b');
        deepStrictEqual(
          jobs.map(({ spec, recoveryCount }) => [spec.jobId, recoveryCount]),
          [['job_lost_2', 0]],
        );
      },
    'a heartbeat that is sent again only prolongs the lease': async (rig) => {
      await rig.store.beat({ worker: rig.worker('worker-a'), leaseMs: 30_000, lanes: [] });
      rig.clock.advance(10_000);
      const { alive, leaseUntil } = await rig.store.beat({
        worker: rig.worker('worker-a'),
        leaseMs: 30_000,
        lanes: [],
      });
      deepStrictEqual([alive, leaseUntil], [true, rig.clock.now() + 30_000]);
    },
    'a message, an effect and a hold are there once': async (rig) => {
      await rig.create('job_lost_3');
      const message = { jobId: 'job_lost_3', key: 'k', payload: '1' };
      equal((await rig.store.putMessage(message)).outcome, 'kept');
      equal((await rig.store.putMessage(message)).outcome, 'repeated');
      const effect = { jobId: 'job_lost_3', step: 's', occurrence: 1, entry: 1, result: '1' };
      equal((await rig.store.putEffect(effect)).first, true);
      equal((await rig.store.putEffect(effect)).first, false);
      equal((await rig.store.inbox('job_lost_3')).inboxRev, 1);
      deepStrictEqual((await rig.store.effects('job_lost_3')).results, [effect]);
      const hold = { jobIds: ['job_lost_3'], reason: 'look at it first', by: 'operator:ada' };
      const since = rig.clock.now();
      equal((await rig.store.hold(hold)).changed, 1);
      rig.clock.advance(1_000);
      equal((await rig.store.hold(hold)).changed, 0);
      const { reason, by } = hold;
      deepStrictEqual((await rig.store.heldFor('job_lost_3')).hold, { reason, by, since });
      equal((await rig.store.release(hold.jobIds)).changed, 1);
      equal((await rig.store.release(hold.jobIds)).changed, 0);
    },
  },
};
