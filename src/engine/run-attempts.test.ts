import { expect, test } from 'vitest';
import { Pawl } from '../client/app.js';
import { task } from '../client/task.js';
import { attemptOf, type Job } from '../kernel/index.js';
import type { Logger } from '../ports/logger.js';
import type { AgedJob } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, type TestApp } from '../testkit/index.js';
import { onEveryStore } from '../../test/on-every-store.js';
import { DEFAULT_SETTINGS, newJob } from './new-job.js';
import { retentionSweep } from './retention.js';
import { noteAttempts } from './run-attempts.js';
import { startedOr } from './start-jobs.js';
import { startRun } from './start-run.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const work = task({ name: 'work' }, ({ input }) => {
  if (input === 'fail') throw new Error('always');
});

/** Starts a run of the one task, and waits for its end. Answers with the attempts that it made. */
async function run({ app, clock, store }: TestApp, input: 'fail' | 'succeed'): Promise<[Job, number[]]> {
  const { engine } = Pawl.inside(app);
  const asked = newJob(
    engine,
    { ...DEFAULT_SETTINGS, name: 'work' },
    { input: JSON.stringify(input), concurrencyKey: null, options: { taskId: 'import', maxRetries: 1 } },
  );
  const { job } = startedOr(await startRun(engine, asked, { actor: 'client' }), asked);
  const ended = async () => (await store.load(job.spec.jobId)).found?.job;
  await advanceUntil(clock, async () => typeof (await ended())?.finishedAt === 'number');
  const { attemptBase } = job.spec;
  const attempts = attemptOf((await ended()) ?? job);
  return [job, Array.from({ length: attempts }, (_, index) => attemptBase + index + 1)];
}

onEveryStore((fresh) => {
  test('RUN-2 attempts go on where the latest run was purged and an earlier one stays', async () => {
    const rig = await fresh.app({ tasks: [work] });
    const sweep = retentionSweep(Pawl.inside(rig.app).engine, { keep: '1h' });
    const isThere = async (job: Job) => (await rig.store.load(job.spec.jobId)).found !== null;
    const [first, failed] = await run(rig, 'fail');
    const [second, succeeded] = await run(rig, 'succeed');
    expect([failed, succeeded]).toEqual([[1, 2], [3]]);

    rig.clock.advance(2 * HOUR);
    while (await sweep());
    // Its dead letter is open.
    expect([await isThere(first), await isThere(second)]).toEqual([true, false]);
    const [third, afterPurge] = await run(rig, 'fail');
    expect(afterPurge).toEqual([4, 5]);
    const [fourth, afterThat] = await run(rig, 'succeed');
    expect(afterThat).toEqual([6]);

    // Long enough for the keys to be forgotten as well.
    for (const ms of [2 * HOUR, 31 * DAY]) {
      rig.clock.advance(ms);
      while (await sweep());
    }
    const latest = { tenantId: 'default', kind: 'latest_run', value: 'import' } as const;
    expect((await rig.store.resolve([latest])).jobIds).toEqual([null]);
    expect([await isThere(third), await isThere(fourth)]).toEqual([true, false]);
    expect((await run(rig, 'succeed'))[1]).toEqual([7]);
  });

  test('RUN-2 a task of which nothing is left begins anew, and leaves no note', async () => {
    const rig = await fresh.app({ tasks: [work] });
    const sweep = retentionSweep(Pawl.inside(rig.app).engine, { keep: '1h' });
    await run(rig, 'succeed');
    rig.clock.advance(2 * HOUR);
    while (await sweep());
    const noted = { kind: 'attempts', tenantId: null, after: null, limit: 10 } as const;
    expect((await rig.store.records(noted)).records).toEqual([]);
    expect((await run(rig, 'succeed'))[1]).toEqual([1]);
  });
});

test('RUN-2 a run that cannot be read is not purged: nobody knows how far its task has counted', async () => {
  const job = (jobId: string, value: string): AgedJob => ({
    jobId,
    tenantId: 'default',
    task: 'work',
    status: 'succeeded',
    finishedAt: 0,
    identities: [{ tenantId: 'default', kind: 'latest_run', value }],
  });
  const jobs = [job('job_damaged', 'import'), job('job_gone', 'export')];
  const errors: string[] = [];
  const note = (message: string) => void errors.push(message);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const store = {
    ...memoryStore({ clock: fakeClock(0) }),
    resolve: async () => ({ now: 0, jobIds: jobs.map(({ jobId }) => jobId) }),
    load: async (jobId: string) => {
      if (jobId === 'job_damaged') throw new Error('unreadable');
      return { now: 0, found: null };
    },
  };
  expect(await noteAttempts({ store, log }, jobs)).toEqual(jobs.slice(1));
  expect(errors).toEqual(['noting the attempts of a run failed']);
});
