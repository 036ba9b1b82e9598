import { deepStrictEqual, equal } from 'node:assert/strict';
import { aWait, command } from '../sample-commands.js';
import type { Topic } from './rig.js';

export const timers: Topic = {
  name: 'timers',
  cases: {
    'a wait is due from its expiry on, and not before': async (rig) => {
      const { attemptId } = await rig.running('job_timer_1');
      const waits = [aWait({ expiresAt: rig.clock.now() + 1_000 })];
      await rig.give('job_timer_1', command('begin-wait', { attemptId: attemptId ?? '', waits }));
      rig.clock.advance(999);
      deepStrictEqual((await rig.store.due({ limit: 10, except: [] })).jobIds, []);
      rig.clock.advance(1);
      deepStrictEqual((await rig.store.due({ limit: 10, except: [] })).jobIds, ['job_timer_1']);
      await rig.give('job_timer_1', command('expire-waits', { now: rig.clock.now() }));
      deepStrictEqual((await rig.store.due({ limit: 10, except: [] })).jobIds, []);
    },
    'an idle job is due at its deadline, a running one is its holder’s affair': async (rig) => {
      const deadlineAt = rig.clock.now() + 1_000;
      await rig.running('job_timer_2', { deadlineAt });
      await rig.create('job_timer_3', { deadlineAt });
      rig.clock.advance(1_000);
      deepStrictEqual((await rig.store.due({ limit: 10, except: [] })).jobIds, ['job_timer_3']);
    },
    'the earliest come first, of the same time those that were created first, and some can be left out':
      async (rig) => {
        const now = rig.clock.now();
        const { attemptId } = await rig.running('job_timer_7', { deadlineAt: now + 3_000 });
        const waits = [aWait({ expiresAt: now + 1_500 })];
        await rig.give('job_timer_7', command('begin-wait', { attemptId: attemptId ?? '', waits }));
        for (const [jobId, after] of [
          ['job_timer_6', 2_000],
          ['job_timer_5', 2_000],
          ['job_timer_4', 1_000],
        ] as const)
          await rig.create(jobId, { deadlineAt: now + after });
        rig.clock.advance(3_000);
        const due = async (limit: number, ...except: string[]) =>
          (await rig.store.due({ limit, except })).jobIds.map((jobId) => jobId.slice(-1)).join('');
        equal(await due(10), '4765');
        equal(await due(3), '476');
        equal(await due(2, 'job_timer_4', 'job_timer_6'), '75');
      },
  },
};

export const leases: Topic = {
  name: 'leases',
  cases: {
    'a heartbeat prolongs the lease and tells what the worker holds': async (rig) => {
      const { attemptId } = await rig.running('job_lease_1');
      rig.clock.advance(10_000);
      const worker = rig.worker('worker-a');
      const reply = await rig.store.beat({ worker, leaseMs: 30_000, lanes: [] });
      deepStrictEqual(reply, {
        now: rig.clock.now(),
        alive: true,
        leaseUntil: rig.clock.now() + 30_000,
        held: [{ jobId: 'job_lease_1', attemptId }],
      });
    },
    'GUA-10 the jobs of a worker whose lease ran out are found, and it can never come back': async (rig) => {
      await rig.running('job_lease_2');
      rig.clock.advance(29_999);
      deepStrictEqual((await rig.store.orphans({ limit: 10 })).jobs, []);
      rig.clock.advance(1);
      const found = (await rig.store.orphans({ limit: 10 })).jobs;
      deepStrictEqual(found, [await rig.load('job_lease_2')]);
      const reply = await rig.store.beat({
        worker: rig.worker('worker-a'),
        leaseMs: 30_000,
        lanes: [],
      });
      equal(reply.alive, false);
    },
    'DEC-5 a worker that comes back under its id ends its earlier incarnation at once, and never a later one':
      async (rig) => {
        await rig.running('job_lease_4');
        const beat = (incarnation: string) =>
          rig.store.beat({ worker: { id: 'worker-a', incarnation }, leaseMs: 30_000, lanes: ['a', 'b'] });
        equal((await beat('worker-a.2')).alive, true);
        deepStrictEqual((await rig.store.orphans({ limit: 10 })).jobs, [await rig.load('job_lease_4')]);
        equal((await beat('worker-a.1')).alive, false);
        equal((await beat('worker-a.2')).alive, true);
        const { now, workers } = await rig.store.workers({ incarnations: null });
        deepStrictEqual(workers, [
          {
            worker: { id: 'worker-a', incarnation: 'worker-a.2' },
            leaseUntil: now + 30_000,
            dead: false,
            lanes: ['a', 'b'],
          },
        ]);
        const named = await rig.store.workers({ incarnations: ['worker-a.1', 'worker-x.1'] });
        deepStrictEqual(
          named.workers.map(({ worker, dead }) => [worker.incarnation, dead]),
          [['worker-a.1', true]],
        );
      },
    'DEC-5 a worker that resigns is dead at once; one that holds jobs is not, and lives until its lease ends':
      async (rig) => {
        const busy = rig.worker('worker-a');
        const idle = rig.worker('worker-b');
        await rig.running('job_lease_5');
        await rig.store.beat({ worker: idle, leaseMs: 30_000, lanes: [] });
        equal((await rig.store.resign(busy)).resigned, false);
        equal((await rig.store.resign(idle)).resigned, true);
        equal((await rig.store.resign(idle)).resigned, false);
        equal((await rig.store.resign(rig.worker('worker-x'))).resigned, false);
        const { workers } = await rig.store.workers({ incarnations: null });
        deepStrictEqual(
          workers.map(({ worker }) => worker),
          [busy],
        );
        equal((await rig.store.beat({ worker: busy, leaseMs: 30_000, lanes: [] })).alive, true);
        equal((await rig.store.beat({ worker: idle, leaseMs: 30_000, lanes: [] })).alive, false);
        deepStrictEqual((await rig.store.orphans({ limit: 10 })).jobs, []);
      },
    'a waiting job has no holder and is never an orphan': async (rig) => {
      const { attemptId } = await rig.running('job_lease_3');
      await rig.give('job_lease_3', command('begin-wait', { attemptId: attemptId ?? '' }));
      rig.clock.advance(1_000_000);
      deepStrictEqual((await rig.store.orphans({ limit: 10 })).jobs, []);
    },
  },
};
