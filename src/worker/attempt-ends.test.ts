import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Pawl } from '../client/app.js';
import { effect } from '../client/effect.js';
import { task, type TaskOptions } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { testApp } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';
import { Attempt } from './attempt.js';
import type { Steps } from './steps.js';

const hang = (): Promise<never> => new Promise(() => undefined);

describe('the time of an attempt', () => {
  const LIMIT = '4100ms';
  test.each<[string, Partial<TaskOptions<unknown, unknown>>, object]>([
    ['DEC-8 its timeout', { timeout: LIMIT }, { status: 'succeeded', retryCount: 1 }],
    [
      'DEC-8 the deadline of its job',
      { deadline: LIMIT },
      { status: 'failed', failure: { code: 'DEADLINE_EXCEEDED' } },
    ],
  ])(
    '%s is kept although the last reply before it came late, and set the store’s clock back',
    async (_, limit, end) => {
      const cluster = newCluster();
      let runs = 0;
      const slow = task({ name: 'slow', ...limit }, () => (++runs === 1 ? hang() : 'in time'));
      const store: Store = {
        ...cluster.store,
        beat: async (asked) => {
          const reply = await cluster.store.beat(asked);
          if (runs === 1) await new Promise<void>((resolve) => cluster.clock.after(50, resolve));
          return reply;
        },
      };
      // A heartbeat every four seconds: one is answered just before the time is up, and the next comes much later.
      await cluster.join([slow], { lease: '12s', poll: '1h' }, store);
      // Asked elsewhere: each answer would set the worker's clock right.
      const client = await cluster.join([slow], false);
      const { job } = await client.app.start(slow, null);
      const ended = await client.ended(job, { atMost: '10s' });
      expect(ended).toMatchObject(end);
      expect(ended.finishedAt).toBeGreaterThanOrEqual(ended.createdAt + 4_100);
    },
  );
});

describe('an attempt that cannot end as it should', () => {
  test('DEC-14 an error whose message is no text fails the attempt like any other', async () => {
    const odd = task({ name: 'odd', retry: { maxRetries: 1 } }, () => {
      throw Object.assign(new Error('x'), { message: ['a'], code: 7 });
    });
    const rig = await testApp({ tasks: [odd] });
    onTestFinished(() => rig.stop());
    const job = await rig.ended((await rig.app.start(odd, null)).job, { atMost: '1m' });
    expect(job).toMatchObject({
      status: 'failed',
      retryCount: 1,
      failure: { code: 'TASK_EXECUTION_FAILED', message: '["a"]' },
    });
  });

  /** Spoils the first commands that would end an attempt: the kernel refuses them. */
  function spoil(count: number): string[] {
    const spoilt: string[] = [];
    const give = Reflect.get(Attempt.prototype, 'give');
    const spy = vi.spyOn(Attempt.prototype, 'give').mockImplementation(function spoiling(
      this: Attempt,
      command,
      ...others
    ) {
      const ends = command.type === 'complete' || command.type === 'fail-attempt';
      if (!ends || spoilt.length === count) return give.call(this, command, ...others);
      spoilt.push(command.type);
      const bad = command.type === 'complete' ? { ...command, result: '' } : { ...command, failure: null };
      return give.call(this, bad as typeof command, ...others);
    });
    onTestFinished(() => spy.mockRestore());
    return spoilt;
  }

  test('DEC-4 an end that is refused fails the job, and says why', async () => {
    const spoilt = spoil(1);
    const job = task({ name: 'job' }, () => 'done');
    const rig = await testApp({ tasks: [job] });
    onTestFinished(() => rig.stop());
    const ended = await rig.ended((await rig.app.start(job, null)).job, { atMost: '1m' });
    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'INVALID_OPTION' } });
    expect(ended.failure?.message).toContain('result is not valid');
    expect(spoilt).toEqual(['complete']);
  });

  test('DEC-5 one that cannot even fail is let go, and handed back', async () => {
    const spoilt = spoil(2);
    const cluster = newCluster();
    const job = task({ name: 'job' }, () => 'done');
    const rig = await cluster.join([job]);
    const ended = await rig.ended((await rig.app.start(job, null)).job, { atMost: '1m' });
    expect(ended).toMatchObject({ status: 'succeeded', recoveryCount: 0, retryCount: 0 });
    expect(spoilt).toEqual(['complete', 'fail-attempt']);
  });
});

describe('what is asked for as the attempt ends', () => {
  const pay = effect({ name: 'pay', run: () => 1 });
  const kid = task({ name: 'kid' }, () => 1);
  const LATE: Readonly<Record<string, (step: Steps) => Promise<unknown>>> = {
    'an effect': (step) => step.effect('pay', pay, null),
    'a child': (step) => step.call('kid', kid, null),
  };

  test.each(Object.keys(LATE).flatMap((what) => [true, false].map((isStopped) => ({ what, isStopped }))))(
    'DEC-5 GUA-2 nothing is thrown into a handler that has no say any more: $what, handed back: $isStopped',
    async ({ what, isStopped }) => {
      const cluster = newCluster();
      const heard: string[] = [];
      const [letGo, goOn] = [signal(), signal()];
      const job = task({ name: 'job', timeout: '5s' }, async ({ step }) => {
        const first = step.run('first', () => 1);
        await goOn.given;
        await LATE[what]?.(step).catch(({ code }) => heard.push(code));
        return first;
      });
      // While the first step is being recorded, the attempt is ended, and the handler asks for more: both share the next commit.
      const store: Store = {
        ...cluster.store,
        commit: async (items) => {
          if (items.some(({ body }) => body.includes('"first"'))) await letGo.given;
          return cluster.store.commit(items);
        },
      };
      const rig = await cluster.join([job, kid], { drain: 0 }, store);
      const { job: handle } = await rig.app.start(job, null);
      await rig.idle();
      const ending = isStopped ? rig.app.stop() : null;
      await rig.idle();
      cluster.clock.advance(isStopped ? 1 : 5_001);
      await rig.idle();
      goOn.give();
      await rig.idle();
      letGo.give();
      await rig.run(Promise.resolve(ending));
      await rig.idle();
      expect((await handle.status()).status).toBe(isStopped ? 'interrupted' : 'retrying');
      expect(heard).toEqual([]);
    },
  );
});

/** A promise that the test keeps when it sees fit. */
function signal(): { given: Promise<void>; give: () => void } {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

describe('what an attempt leaves behind', () => {
  const limited = task({ name: 'limited' }, async ({ step, input }) => {
    const work = step.run('work', () => (input === 'hang' ? hang() : 'done'));
    return Promise.race([work, step.sleep('limit', '24h')]);
  });

  test.each(['return', 'hang'])('no alarm of its waits outlives it: %s', async (how) => {
    const rig = await testApp({ tasks: [limited] });
    onTestFinished(() => rig.stop());
    const { alarms } = Pawl.inside(rig.app).engine;
    await rig.idle();
    const before = alarms.pending;
    const { job } = await rig.app.start(limited, how);
    await rig.idle();
    if (how === 'hang') {
      expect(alarms.pending).toBe(before + 1);
      await job.cancel();
    }
    await rig.idle();
    expect((await job.status()).finishedAt).not.toBeNull();
    expect(alarms.pending).toBe(before);
  });

  test('GUA-9 a job that would sleep until no time keeps no other from waking', async () => {
    const bad = task({ name: 'bad' }, ({ step }) => step.sleepUntil('nap', new Date('bad')));
    const good = task({ name: 'good' }, ({ step }) => step.sleep('nap', '10s'));
    const rig = await testApp({ tasks: [bad, good] });
    onTestFinished(() => rig.stop());
    const one = await rig.app.start(bad, null);
    await rig.idle();
    const two = await rig.app.start(good, null);
    expect((await rig.ended(two.job, { atMost: '11s' })).status).toBe('succeeded');
    expect((await one.job.status()).failure?.message).toContain("the end of the sleep 'nap' is Invalid Date");
  });
});
