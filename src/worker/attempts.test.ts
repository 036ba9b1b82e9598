import { describe, expect, onTestFinished, test } from 'vitest';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, T0, testApp } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';
import type { AttemptOutcome } from './hooks.js';

describe('attempts', () => {
  test('JOB-4 JOB-7 the fourth failure goes to the dead letters, with its item', async () => {
    const cluster = newCluster();
    const failing = task({ name: 'failing' }, () => {
      throw new Error('always');
    });
    const rig = await cluster.join([failing]);
    const { job } = await rig.app.start(failing, { n: 1 });
    expect(await rig.ended(job)).toMatchObject({ status: 'failed', retryCount: 3 });
    const { items } = await cluster.store.dlq({ tenantId: null, status: 'open', after: null, limit: 9 });
    expect(items).toMatchObject([{ jobId: job.id, errorCode: 'TASK_EXECUTION_FAILED', payload: '{"n":1}' }]);
    expect(items[0]?.context.attempts).toHaveLength(4);
    await expect(job.result()).rejects.toMatchObject({
      code: 'JOB_FAILED',
      message: expect.stringContaining('always'),
    });
  });

  test('DEC-8 DEC-9 an attempt that takes too long is aborted and retried', async () => {
    const cluster = newCluster();
    let aborted = 0;
    let runs = 0;
    const slow = task({ name: 'slow', timeout: '5s' }, ({ signal }) => {
      runs += 1;
      if (runs === 2) return 'in time';
      signal.addEventListener('abort', () => {
        aborted += 1;
      });
      return new Promise(() => undefined);
    });
    const rig = await cluster.join([slow]);
    const over = await rig.ended((await rig.app.start(slow, null)).job);
    expect(over).toMatchObject({ result: '"in time"', retryCount: 1 });
    expect(aborted).toBe(1);
  });

  test('a running job past its deadline is dead-lettered by its holder, a waiting one by the loop', async () => {
    const cluster = newCluster();
    const idle = task({ name: 'idle', deadline: '1m' }, ({ step }) => step.waitFor('never'));
    const busy = task({ name: 'busy', deadline: '1m' }, () => new Promise(() => undefined));
    const rig = await cluster.join([idle, busy]);
    const one = await rig.app.start(idle, null);
    const two = await rig.app.start(busy, null);
    for (const { job } of [one, two]) {
      expect(await rig.ended(job)).toMatchObject({
        status: 'failed',
        failure: { code: 'DEADLINE_EXCEEDED' },
      });
    }
  });

  test('a cancelled job’s handler is aborted, and what it writes later is refused', async () => {
    const cluster = newCluster();
    let release: () => void = () => undefined;
    let aborted = false;
    const job = task({ name: 'job' }, async ({ step, signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await step.run('late', () => 1);
    });
    const rig = await cluster.join([job]);
    const { job: handle } = await rig.app.start(job, null);
    await rig.idle();
    await handle.cancel();
    await rig.idle();
    expect(aborted).toBe(true);
    release();
    cluster.clock.advance(100);
    await rig.idle();
    const { rows } = await cluster.store.log(handle.id, { fromRev: 1, limit: 9 });
    expect(rows).toHaveLength(3);
    await expect(handle.cancel()).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  test('hooks see each attempt begin and end', async () => {
    const seen: [string, AttemptOutcome['status'] | null][] = [];
    let runs = 0;
    const job = task({ name: 'job' }, async ({ step }) => {
      runs += 1;
      if (runs === 1) throw new Error('once');
      await step.sleep('nap', '10s');
    });
    const rig = await testApp({
      tasks: [job],
      hooks: {
        attemptStarted: ({ attempt }) => seen.push([`start ${attempt}`, null]),
        attemptEnded: ({ attempt }, { status }) => {
          seen.push([`end ${attempt}`, status]);
          throw new Error('a hook that throws changes nothing');
        },
      },
    });
    onTestFinished(() => rig.stop());
    await rig.ended((await rig.app.start(job, null)).job);
    expect(seen).toEqual([
      ['start 1', null],
      ['end 1', 'retrying'],
      ['start 2', null],
      ['end 2', 'waiting'],
      ['start 2', null],
      ['end 2', 'succeeded'],
    ]);
  });
});

describe('stopping', () => {
  test('DEC-5 what ends in time ends; the rest is handed back at the cost of nothing', async () => {
    const cluster = newCluster();
    let finish: () => void = () => undefined;
    let runs = 0;
    const quick = task(
      { name: 'quick' },
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const slow = task({ name: 'slow' }, () => (++runs === 1 ? new Promise(() => undefined) : 'by another'));
    const rig = await cluster.join([quick, slow]);
    const one = await rig.app.start(quick, null);
    const two = await rig.app.start(slow, null);
    await rig.idle();
    const stopping = rig.app.stop();
    finish();
    await rig.run(stopping);
    expect(cluster.clock.now() - T0).toBeLessThan(12_000);
    expect((await one.job.status()).status).toBe('succeeded');
    expect(await two.job.status()).toMatchObject({
      status: 'interrupted',
      interruptedReason: 'drained',
      recoveryCount: 0,
      retryCount: 0,
    });
    const other = await cluster.join([quick, slow]);
    expect((await other.ended(two.job)).result).toBe('"by another"');
  });

  test('DEC-5 a job whose past is still being read is handed back, and never run', async () => {
    const cluster = newCluster();
    let runs = 0;
    const nap = task({ name: 'nap' }, async ({ step }) => {
      runs += 1;
      await step.sleep('nap', '1m');
      return 'rested';
    });
    let isHeld = false;
    let letGo: () => void = () => undefined;
    const store: Store = {
      ...cluster.store,
      log: async (jobId, page) => {
        const reply = await cluster.store.log(jobId, page);
        if (isHeld) {
          await new Promise<void>((resolve) => {
            letGo = resolve;
          });
        }
        return reply;
      },
    };
    const rig = await cluster.join([nap], { drain: '1s' }, store);
    const { job } = await rig.app.start(nap, null);
    await rig.idle();
    isHeld = true;
    await advanceUntil(cluster.clock, async () => (await job.status()).status === 'running');
    await rig.run(rig.app.stop(), { atMost: '3s' });
    const handedBack = { status: 'interrupted', interruptedReason: 'drained', recoveryCount: 0 };
    expect(await job.status()).toMatchObject(handedBack);
    letGo();
    await rig.idle();
    expect(runs).toBe(1);
    const other = await cluster.join([nap]);
    expect((await other.ended(job)).result).toBe('"rested"');
  });

  test('whoever waits for a result when the app is closed is told so', async () => {
    const cluster = newCluster();
    const job = task({ name: 'job' }, ({ step }) => step.waitFor('never'));
    const rig = await cluster.join([job]);
    const { job: handle } = await rig.app.start(job, null);
    const waiting = Promise.allSettled([handle.result(), handle.result({ timeout: '1d' })]);
    await rig.idle();
    await rig.run(rig.app.close());
    const closed = { status: 'rejected', reason: { code: 'APP_CLOSED' } };
    expect(await rig.run(waiting)).toMatchObject([closed, closed]);
    await expect(handle.result()).rejects.toMatchObject({ code: 'APP_CLOSED' });
  });

  test('stop may come twice, or before work; a closed app says so', async () => {
    const cluster = newCluster();
    const job = task({ name: 'job' }, () => 1);
    const rig = await cluster.join([job], false);
    const { app } = rig;
    await app.stop();
    await app.stop();
    await rig.run(app.close());
    await rig.run(app.close());
    await expect(app.start(job, null)).rejects.toMatchObject({ code: 'APP_CLOSED' });
  });
});
