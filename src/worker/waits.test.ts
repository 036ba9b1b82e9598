import { describe, expect, onTestFinished, test } from 'vitest';
import { task, type AnyTask, type TaskOptions } from '../client/task.js';
import { advanceUntil, testApp, type TestApp } from '../testkit/index.js';
import type { HandlerContext } from './task-definition.js';

type Handler = (context: HandlerContext<unknown>) => unknown;

async function appOf(...tasks: AnyTask[]): Promise<TestApp> {
  const rig = await testApp({ tasks });
  onTestFinished(() => rig.stop());
  return rig;
}

async function started(handler: Handler, options: Partial<TaskOptions<unknown, unknown>> = {}) {
  const job = task({ name: 'job', ...options }, handler);
  const rig = await appOf(job);
  const { job: handle } = await rig.app.start(job, null);
  await rig.idle();
  return { ...rig, job: handle };
}

const DAY = 86_400_000;

describe('sleeping', () => {
  test('GUA-9 a sleeping job holds no lease, is never claimed, and wakes at its time, not before', async () => {
    let woke = 0;
    const rig = await started(async ({ step }) => {
      await step.sleep('month', '30d');
      woke = rig.clock.now();
    });
    const asleep = await rig.job.status();
    expect(asleep).toMatchObject({ status: 'waiting', worker: null, waits: [{ kind: 'timer' }] });
    await rig.ended(rig.job, { atMost: 31 * DAY });
    expect(woke - asleep.createdAt).toBeGreaterThanOrEqual(30 * DAY);
    expect(woke - asleep.createdAt).toBeLessThan(30 * DAY + 3_600_001);
  });

  test('of parallel sleeps each keeps its own time', async () => {
    const woke: number[] = [];
    const rig = await started(async ({ step }) => {
      const startedAt = await step.now();
      const nap = async (name: string, duration: '10s' | '20s' | '30s') => {
        await step.sleep(name, duration);
        woke.push(rig.clock.now() - startedAt);
      };
      await Promise.all([nap('a', '30s'), nap('b', '10s'), nap('c', '20s')]);
    });
    await rig.ended(rig.job);
    expect(woke.slice(-3).map((ms) => Math.round(ms / 10_000))).toEqual([3, 3, 3]);
    expect(Math.round(((await rig.job.status()).finishedAt ?? 0) - (await rig.job.status()).createdAt)).toBe(
      30_000,
    );
  });

  test('a sleep beside a running step ends while the step goes on', async () => {
    const rig = await started(async ({ step }) => {
      const work = step.run('work', () => new Promise(() => undefined));
      const limit = step.sleep('limit', '5s');
      return Promise.race([work, limit.then(() => 'too late')]);
    });
    expect((await rig.ended(rig.job)).result).toBe('"too late"');
  });

  test('DEC-8 a wait does not count against the timeout of the attempt', async () => {
    const rig = await started(
      async ({ step }) => {
        await step.sleep('long', '3d');
        return 'done';
      },
      { timeout: '10s' },
    );
    expect((await rig.ended(rig.job, { atMost: 4 * DAY })).result).toBe('"done"');
  });
});

describe('signals', () => {
  const approval: Handler = ({ step }) => step.waitFor('approval');

  test('GUA-8 a signal completes the wait, once, and a repetition is recognised for ever', async () => {
    const rig = await started(approval);
    expect((await rig.job.status()).waits).toMatchObject([
      { key: 'approval', kind: 'signal', expiresAt: null },
    ]);
    expect(await rig.job.why()).toMatchObject({
      code: 'signal',
      sentence: "It waits for signal 'approval'.",
    });
    expect(await rig.job.signal('approval', { by: 'ann' })).toBe('delivered');
    expect(await rig.job.signal('approval', { by: 'bob' })).toBe('repeated');
    expect((await rig.ended(rig.job)).result).toBe('{"by":"ann"}');
    expect(await rig.job.signal('approval', { by: 'eve' })).toBe('repeated');
    await expect(rig.job.signal('other', 1)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  test('GUA-8 a signal that arrives before its wait is kept, and taken without leaving running', async () => {
    const early = task({ name: 'early' }, async ({ step }) => {
      await step.sleep('later', '1h');
      return step.waitFor('approval');
    });
    const rig = await appOf(early);
    const { job } = await rig.app.start(early, null);
    await rig.idle();
    expect(await job.signal('approval', 7)).toBe('kept');
    const ended = await rig.ended(job, { atMost: DAY });
    expect([ended.result, ended.waits]).toEqual(['7', []]);
  });

  test('GUA-8 a signal for a job that runs another step beside the wait reaches it there', async () => {
    let finish: () => void = () => undefined;
    const rig = await started(async ({ step }) => {
      const work = step.run(
        'work',
        () =>
          new Promise<void>((resolve) => {
            finish = resolve;
          }),
      );
      const answer = await step.waitFor('approval');
      finish();
      await work;
      return answer;
    });
    expect(await rig.job.signal('approval', 'yes')).toBe('kept');
    const { result, rev } = await rig.ended(rig.job);
    expect([result, rev]).toEqual(['"yes"', 5]);
  });

  test('GUA-8 a signal that nobody told the worker of is heard when its wait is about to run out', async () => {
    let finish: (value: string) => void = () => undefined;
    const rig = await started(async ({ step }) => {
      const work = step.run('work', () => new Promise((resolve) => (finish = resolve)));
      const heard = await Promise.all([
        step.waitFor('go', { timeout: '1m' }),
        step.waitFor('never', { timeout: '1m' }),
      ]);
      return [...heard, await work];
    });
    // Kept for the job, and its bearer died.
    await rig.store.putMessage({ jobId: rig.job.id, key: 'go', payload: '1' });
    rig.clock.advance(60_000);
    await rig.idle();
    finish('done');
    await rig.ended(rig.job);
    expect(await rig.job.result()).toEqual([1, null, 'done']);
  });

  test('GUA-9 a wait that expires answers undefined', async () => {
    const rig = await started(async ({ step }) => {
      const answer = await step.waitFor('approval', { timeout: '1h' });
      return answer === undefined ? 'nobody' : answer;
    });
    expect((await rig.ended(rig.job, { atMost: DAY })).result).toBe('"nobody"');
  });

  test('GUA-8 bad keys, and keys that the task does not declare, are refused and nothing is stored', async () => {
    const rig = await started(approval, { signals: ['approval'] });
    for (const key of ['', 'not a key', 'x'.repeat(200), 'other']) {
      await expect(rig.job.signal(key, 1)).rejects.toMatchObject({ code: 'INVALID_SIGNAL_KEY' });
    }
    expect((await rig.store.inbox(rig.job.id)).inboxRev).toBe(0);
    await expect(rig.app.job('no_such_job').signal('approval')).rejects.toMatchObject({
      code: 'JOB_NOT_FOUND',
    });
  });

  test('GUA-8 a wait for a key that the task does not declare fails the job', async () => {
    const rig = await started(({ step }) => step.waitFor('other'), { signals: ['approval'] });
    expect((await rig.ended(rig.job)).failure?.code).toBe('INVALID_SIGNAL_KEY');
  });

  test('GUA-8 such a wait fails the job even if it expires while something else runs', async () => {
    const rig = await started(
      async ({ step }) => {
        const work = step.run(
          'work',
          () => new Promise((resolve) => rig.clock.after(60_000, () => resolve(1))),
        );
        await Promise.all([work, step.waitFor('other', { timeout: '10s' })]);
      },
      { signals: ['approval'] },
    );
    expect((await rig.ended(rig.job, { atMost: DAY })).failure?.code).toBe('INVALID_SIGNAL_KEY');
  });

  test('GUA-8 a message whose bearer died before waking the job is found by the sweep', async () => {
    const rig = await started(approval);
    await rig.store.putMessage({ jobId: rig.job.id, key: 'approval', payload: '"swept"' });
    expect((await rig.ended(rig.job, { atMost: DAY })).result).toBe('"swept"');
  });

  test('a thousand jobs that wait are woken by a thousand signals', async () => {
    const job = task({ name: 'job' }, approval);
    const rig = await appOf(job);
    const all = await rig.app.startMany(
      job,
      Array.from({ length: 1_000 }, () => ({ input: null })),
    );
    await advanceUntil(
      rig.clock,
      async () => (await rig.store.counts({ tenantId: null })).counts.waiting === 1_000,
    );
    await Promise.all(all.map((one, n) => one.job.signal('approval', n)));
    await advanceUntil(
      rig.clock,
      async () => (await rig.store.counts({ tenantId: null })).counts.succeeded === 1_000,
    );
    const results = await Promise.all(all.map(async (one) => (await one.job.status()).result));
    expect(results).toEqual(all.map((_, n) => `${n}`));
  });
});
