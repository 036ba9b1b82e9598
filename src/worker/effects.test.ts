import { describe, expect, onTestFinished, test } from 'vitest';
import { cannotTell, effect, happened, noEffect, notHappened, type EffectOptions } from '../client/effect.js';
import type { JobHandle } from '../client/job-handle.js';
import { task } from '../client/task.js';
import { decodeEvents, type Event } from '../kernel/index.js';
import { advanceUntil, testApp, type FakeClock, type TestApp } from '../testkit/index.js';
import type { StepError } from './run-step.js';

type Charge = EffectOptions<number, string>;

/** A task with one effect, and an app that runs it. */
async function charging(options: Partial<Charge> & Pick<Charge, 'run'>, retries = 3) {
  const charge = effect({ name: 'charge', settle: '1m', ...options });
  const order = task({ name: 'order', retry: { maxRetries: retries } }, async ({ step }) => {
    const paid = await step.effect('charge', charge, 700);
    return { paid };
  });
  const rig = await testApp({ tasks: [order] });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, null);
  return { ...rig, job };
}

async function eventsOf({ store }: Pick<TestApp, 'store'>, { id }: { id: string }): Promise<Event[]> {
  const { rows } = await store.log(id, { fromRev: 1, limit: 1_000 });
  return rows.flatMap(({ body }) => {
    const decoded = decodeEvents(body);
    return decoded.ok ? decoded.events : [];
  });
}

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type);

describe('an effect', () => {
  test('GUA-4 intent, then the body, then the result, in that order in the log', async () => {
    const rig = await charging({ run: (cents) => `ch_${cents}` });
    expect((await rig.ended(rig.job)).result).toBe('{"paid":"ch_700"}');
    expect(typesOf(await eventsOf(rig, rig.job)).slice(3)).toEqual([
      'effect.intended',
      'effect.recorded',
      'job.succeeded',
    ]);
    expect((await rig.store.effects(rig.job.id)).results).toMatchObject([{ entry: 1, result: '"ch_700"' }]);
  });

  test('GUA-3 the idempotency key is the same for every entry', async () => {
    const keys: string[] = [];
    const rig = await charging({
      run: (cents, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length < 3) throw noEffect(new Error('refused'));
        return `ch_${cents}`;
      },
    });
    expect((await rig.ended(rig.job)).status).toBe('succeeded');
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  test('GUA-4 noEffect closes the entry, and the retry enters again', async () => {
    let calls = 0;
    const rig = await charging({
      run: () => {
        calls += 1;
        if (calls === 1) throw noEffect(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
        return 'ch';
      },
    });
    const job = await rig.ended(rig.job);
    expect([job.status, job.retryCount, calls]).toEqual(['succeeded', 1, 2]);
    const closed = (await eventsOf(rig, rig.job)).find(({ type }) => type === 'effect.closed');
    expect(closed).toMatchObject({ entry: 1, failure: { code: 'ECONNREFUSED', message: 'refused' } });
  });

  test('GUA-4 a throw is an unknown outcome: reconcile is asked once it has settled, and its result is injected', async () => {
    let calls = 0;
    const askedAt: number[] = [];
    const rig = await charging({
      run: () => {
        calls += 1;
        throw new Error('connection reset');
      },
      reconcile: () => {
        askedAt.push(rig.clock.now());
        return happened('ch_found');
      },
    });
    const startedAt = rig.clock.now();
    const job = await rig.ended(rig.job);
    expect([job.result, job.retryCount, calls]).toEqual(['{"paid":"ch_found"}', 0, 1]);
    expect(askedAt).toHaveLength(1);
    expect((askedAt[0] ?? 0) - startedAt).toBeGreaterThanOrEqual(60_000);
  });

  test('GUA-4 notHappened: the throw is the attempt’s failure, and the retry enters again', async () => {
    let calls = 0;
    const rig = await charging({
      run: () => {
        calls += 1;
        if (calls === 1) throw new Error('connection reset');
        return 'ch';
      },
      reconcile: () => notHappened(),
    });
    const job = await rig.ended(rig.job);
    expect([job.status, job.retryCount, calls]).toEqual(['succeeded', 1, 2]);
  });

  test.each([
    ['happened', { verdict: 'happened', result: 'ch_op' } as const, 'succeeded', 1],
    ['notHappened', { verdict: 'notHappened' } as const, 'succeeded', 2],
    ['fail', { verdict: 'fail' } as const, 'failed', 1],
  ])(
    'GUA-4 cannotTell parks the job, and an operator’s %s decides',
    async (_name, decision, status, calls) => {
      let entered = 0;
      const rig = await charging({
        run: () => {
          entered += 1;
          if (entered === 1) throw new Error('connection reset');
          return 'ch_again';
        },
        reconcile: () => cannotTell(),
      });
      await parked(rig);
      expect(await rig.job.why()).toMatchObject({
        code: 'effect_unknown',
        sentence: "Nobody knows whether effect 'charge#1' happened: an operator must decide.",
      });
      await rig.app.resolveEffect(rig.job.id, { step: 'charge', by: 'ann', ...decision });
      const job = await rig.ended(rig.job);
      expect([job.status, entered]).toEqual([status, calls]);
      if (status === 'failed')
        expect(job.failure).toMatchObject({ code: 'EFFECT_UNKNOWN', retryable: false });
    },
  );

  test('GUA-4 without reconcile the job parks at once; with onUnknown fail it fails for good', async () => {
    const run = () => {
      throw new Error('connection reset');
    };
    const asks = await charging({ run });
    const startedAt = asks.clock.now();
    await parked(asks);
    expect(asks.clock.now()).toBe(startedAt);
    const fails = await charging({ run, onUnknown: 'fail' });
    const job = await fails.ended(fails.job);
    expect(job).toMatchObject({ status: 'failed', retryCount: 0, failure: { code: 'EFFECT_UNKNOWN' } });
  });

  test('GUA-4 a decision on an effect that nobody asked about is refused', async () => {
    const rig = await charging({ run: () => 'ch' });
    await rig.ended(rig.job);
    const decide = rig.app.resolveEffect(rig.job.id, { step: 'charge', by: 'ann', verdict: 'notHappened' });
    await expect(decide).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  test('GUA-7 an effect that times out is of unknown outcome, and its late result still counts', async () => {
    let finish: (result: string) => void = () => undefined;
    let aborted = false;
    const rig = await charging({
      timeout: '10s',
      run: (_cents, { signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        return new Promise<string>((resolve) => {
          finish = resolve;
        });
      },
      reconcile: () => cannotTell(),
    });
    await advanceUntil(rig.clock, async () => (await rig.job.status()).status === 'waiting');
    expect(aborted).toBe(true);
    finish('ch_late');
    const job = await rig.ended(rig.job);
    expect(job.result).toBe('{"paid":"ch_late"}');
  });

  test('a result that cannot be kept fails the job, and is not tried again: it happened', async () => {
    let calls = 0;
    const rig = await charging({
      run: () => {
        calls += 1;
        return 10n as unknown as string;
      },
    });
    const job = await rig.ended(rig.job);
    expect(job).toMatchObject({ status: 'failed', failure: { code: 'NOT_SERIALISABLE' } });
    expect(calls).toBe(1);
  });

  test.each<[string, unknown]>([
    ['NOT_SERIALISABLE', 10n],
    ['NOT_SERIALISABLE', { '$pawl:unkept': { code: 'X', message: 'x' } }],
    ['INVALID_INPUT', { fee: Number.NaN }],
    ['PAYLOAD_TOO_LARGE', 'x'.repeat(1_100_000)],
  ])(
    'GUA-6 a result that cannot be kept (%s, %#) is the same error in every replay, of an effect that happened',
    async (code, result) => {
      let calls = 0;
      const seen: unknown[] = [];
      const odd = effect({ name: 'odd', run: () => ((calls += 1), result) });
      const job = task({ name: 'job' }, async ({ step }) => {
        const error = await step.effect('odd', odd, 1).catch((thrown: unknown) => thrown);
        const { name, message, code: seenCode, retryable } = error as StepError;
        seen.push({ name, message, code: seenCode, retryable });
        await step.sleep('pause', '1h');
      });
      const rig = await testApp({ tasks: [job] });
      onTestFinished(() => rig.stop());
      const ended = await rig.ended((await rig.app.start(job, null)).job);
      expect(ended.status).toBe('succeeded');
      expect(seen).toHaveLength(2);
      expect(seen[0]).toMatchObject({ name: 'StepError', code, retryable: false });
      expect((seen[0] as Error).message).toContain("the result of effect 'odd'");
      expect(seen[1]).toEqual(seen[0]);
      expect(calls).toBe(1);
      const { results } = await rig.store.effects(ended.spec.jobId);
      expect(results).toMatchObject([{ step: 'odd', entry: 1, result: expect.stringContaining(code) }]);
    },
  );
});

function parked({ job, clock }: { job: Pick<JobHandle, 'status'>; clock: FakeClock }): Promise<void> {
  return advanceUntil(clock, async () =>
    (await job.status()).waits.some(({ reason }) => reason === 'effect_unknown'),
  );
}
