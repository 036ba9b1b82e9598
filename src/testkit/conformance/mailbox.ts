import { deepStrictEqual, equal } from 'node:assert/strict';
import { command } from '../sample-commands.js';
import type { Topic } from './rig.js';

const charge = { step: 'charge', occurrence: 1, entry: 1 };

export const effects: Topic = {
  name: 'effects',
  cases: {
    'GUA-4 the first result of an entry wins, whoever brings the next': async (rig) => {
      await rig.create('job_effect_1');
      const put = (result: string | null, entry = 1) =>
        rig.store.putEffect({ jobId: 'job_effect_1', ...charge, entry, result });
      equal((await put('"one"')).first, true);
      equal((await put('"two"')).first, false);
      equal((await put(null)).first, false);
      equal((await put('"three"', 2)).first, true);
      deepStrictEqual((await rig.store.effects('job_effect_1')).results, [
        { jobId: 'job_effect_1', ...charge, result: '"one"' },
        { jobId: 'job_effect_1', ...charge, entry: 2, result: '"three"' },
      ]);
    },
    'GUA-4 that a body ended is kept, and a result that arrives later still counts': async (rig) => {
      await rig.create('job_effect_2');
      const put = (result: string | null) =>
        rig.store.putEffect({ jobId: 'job_effect_2', ...charge, result });
      equal((await put(null)).first, true);
      equal((await put('"late"')).first, true);
      deepStrictEqual(
        (await rig.store.effects('job_effect_2')).results.map(({ result }) => result),
        ['"late"'],
      );
    },
    'GUA-4 of results that come together each counts as if it had come alone': async (rig) => {
      await rig.create('job_effect_4');
      await rig.create('job_effect_5');
      const put = async (jobId: string, entry: number, result: string | null) =>
        (await rig.store.putEffect({ jobId, ...charge, entry, result })).first;
      const first = await Promise.all([
        put('job_effect_4', 1, null),
        put('job_effect_5', 1, '"one"'),
        put('job_nobody_5', 1, '"nobody\'s"'),
        put('job_effect_4', 1, '"late"'),
        put('job_effect_5', 1, '"two"'),
        put('job_effect_4', 2, '"more"'),
        put('job_effect_4', 1, '"later"'),
      ]);
      deepStrictEqual(first, [true, true, false, true, false, true, false]);
      deepStrictEqual(
        (await rig.store.effects('job_effect_4')).results.map(({ entry, result }) => [entry, result]),
        [
          [1, '"late"'],
          [2, '"more"'],
        ],
      );
    },
    'GUA-4 a result is accepted from a stale worker, also once the job is over': async (rig) => {
      await rig.running('job_effect_3');
      await rig.give('job_effect_3', command('cancel'));
      equal((await rig.store.putEffect({ jobId: 'job_effect_3', ...charge, result: '1' })).first, true);
      equal((await rig.store.putEffect({ jobId: 'job_nobody_2', ...charge, result: '1' })).first, false);
    },
    'GUA-4 an entry is not closed over a result that was stored meanwhile': async (rig) => {
      const { attemptId } = await rig.running('job_effect_9');
      const held = { attemptId: attemptId ?? '' };
      await rig.give('job_effect_9', command('begin-effect', held));
      await rig.give('job_effect_9', command('doubt-effect', held));
      const ref = { step: 'charge', occurrence: 1, entry: 1 };
      rig.clock.advance(1_000_000);
      const closing = await rig.prepare(
        'job_effect_9',
        command('reconcile-effect', { ...held, now: rig.clock.now() }),
        { noResultOf: ref },
      );
      await rig.store.putEffect({ jobId: 'job_effect_9', ...ref, result: null });
      await rig.store.putEffect({ jobId: 'job_effect_9', ...ref, result: '"paid"' });
      deepStrictEqual((await rig.store.commit([closing])).replies, [{ ok: false, code: 'RESULT_STORED' }]);
      equal((await rig.commits('job_effect_9')).length, 4);
    },
  },
};

export const inbox: Topic = {
  name: 'inbox',
  cases: {
    'GUA-8 a message is kept once for each key, for ever': async (rig) => {
      await rig.create('job_inbox_1');
      const put = (key: string, payload: string) =>
        rig.store.putMessage({ jobId: 'job_inbox_1', key, payload });
      equal((await put('go', '1')).outcome, 'kept');
      equal((await put('go', '2')).outcome, 'repeated');
      equal((await put('stop', '3')).outcome, 'kept');
      const { messages, inboxRev } = await rig.store.inbox('job_inbox_1');
      deepStrictEqual(
        messages.map(({ key, payload }) => [key, payload]),
        [
          ['go', '1'],
          ['stop', '3'],
        ],
      );
      equal(inboxRev, 2);
      equal(
        (await rig.store.putMessage({ jobId: 'job_nobody_3', key: 'go', payload: '1' })).outcome,
        'no job',
      );
    },
    'GUA-8 a wait that begins as its signal arrives does not miss it': async (rig) => {
      const { attemptId } = await rig.running('job_inbox_2');
      const held = { attemptId: attemptId ?? '' };
      const { inboxRev } = await rig.store.inbox('job_inbox_2');
      const wait = await rig.prepare('job_inbox_2', command('begin-wait', held), { ...held, inboxRev });
      await rig.store.putMessage({ jobId: 'job_inbox_2', key: 'approval', payload: 'true' });
      deepStrictEqual((await rig.store.commit([wait])).replies, [{ ok: false, code: 'INBOX_MOVED' }]);
      equal((await rig.load('job_inbox_2')).job.status, 'running');
    },
    'waiting jobs with messages that nobody read are found, page by page, and others are not': async (
      rig,
    ) => {
      const jobs = ['job_unread_1', 'job_unread_2', 'job_unread_3', 'job_unread_4'];
      for (const jobId of jobs) {
        const held = { attemptId: (await rig.running(jobId)).attemptId ?? '' };
        if (jobId !== 'job_unread_4') await rig.give(jobId, command('begin-wait', held));
        await rig.store.putMessage({ jobId, key: 'early', payload: '1' });
      }
      await rig.give('job_unread_2', command('complete-wait'), { consumed: ['early'] });
      const first = await rig.store.unread({ after: null, limit: 1 });
      const second = await rig.store.unread({ after: first.next, limit: 2 });
      deepStrictEqual([...first.jobIds, ...second.jobIds], ['job_unread_1', 'job_unread_3']);
      equal(second.next, null);
    },
    'a message that a commit used up is not there any more, and its key stays taken': async (rig) => {
      const { attemptId } = await rig.running('job_inbox_3');
      await rig.store.putMessage({ jobId: 'job_inbox_3', key: 'approval', payload: 'true' });
      await rig.give('job_inbox_3', command('consume-wait', { attemptId: attemptId ?? '' }), {
        consumed: ['approval'],
      });
      deepStrictEqual((await rig.store.inbox('job_inbox_3')).messages, []);
      equal(
        (await rig.store.putMessage({ jobId: 'job_inbox_3', key: 'approval', payload: '2' })).outcome,
        'repeated',
      );
    },
  },
};
