import { describe, expect, onTestFinished, test } from 'vitest';
import { fatal } from '../client/effect.js';
import { task, type AnyTask, type TaskOptions } from '../client/task.js';
import type { Job } from '../kernel/index.js';
import { T0, testApp, type TestApp } from '../testkit/index.js';
import type { HandlerContext } from './task-definition.js';

type Handler = (context: HandlerContext<unknown>) => unknown;

async function appOf(...tasks: AnyTask[]): Promise<TestApp> {
  const rig = await testApp({ tasks });
  onTestFinished(() => rig.stop());
  return rig;
}

/** Runs a handler as a job, to its end. */
async function runJob(handler: Handler, options: Partial<TaskOptions<unknown, unknown>> = {}): Promise<Job> {
  const job = task({ name: 'job', ...options }, handler);
  const rig = await appOf(job);
  return rig.ended((await rig.app.start(job, null)).job);
}

describe('step.run', () => {
  test('GUA-6 a recorded step is injected, never run again', async () => {
    let runs = 0;
    let attempts = 0;
    const job = await runJob(async ({ step }) => {
      attempts += 1;
      const drawn = await step.run('draw', () => ++runs);
      if (attempts < 3) throw new Error('not yet');
      return drawn;
    });
    expect([job.result, runs, attempts, job.retryCount]).toEqual(['1', 1, 3, 2]);
  });

  test('a step returns its decoded record the first time too', async () => {
    const job = await runJob(async ({ step }) => {
      const found = await step.run('find', () => ({ at: new Date(0), skip: undefined, list: [undefined] }));
      return [typeof found.at, Object.keys(found), found.list];
    });
    expect(job.result).toBe('["string",["at","list"],[null]]');
  });

  test('GUA-7 a step that takes too long is aborted and fails retryably', async () => {
    const reasons: unknown[] = [];
    const job = await runJob(
      ({ step }) =>
        step
          .run(
            'slow',
            ({ signal }) =>
              new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
            { timeout: '5s' },
          )
          .catch((error: unknown) => {
            reasons.push(error);
            throw error;
          }),
      { retry: { maxRetries: 1 } },
    );
    expect(job).toMatchObject({ status: 'failed', retryCount: 1, failure: { code: 'STEP_TIMEOUT' } });
    expect(reasons).toHaveLength(2);
  });

  test('DEC-8 stepTimeout of the task bounds every step', async () => {
    const job = await runJob(({ step }) => step.run('stuck', () => new Promise(() => undefined)), {
      stepTimeout: '2s',
      retry: { maxRetries: 0 },
    });
    expect(job.failure?.code).toBe('STEP_TIMEOUT');
    expect(job.failure?.message).toContain("step 'stuck' took longer than 2000 ms");
  });

  test('a step’s own retries happen within the attempt, each counted in the log', async () => {
    let tries = 0;
    const job = await runJob(({ step }) =>
      step.run(
        'flaky',
        () => {
          tries += 1;
          if (tries < 4) throw new Error('again');
          return tries;
        },
        { retry: { maxRetries: 5, baseMs: 10_000 } },
      ),
    );
    expect([job.result, job.retryCount]).toEqual(['4', 0]);
    expect((job.finishedAt ?? 0) - job.createdAt).toBeGreaterThanOrEqual(10_000 + 20_000 + 30_000);
  });

  test('DEC-14 a plain throw is retried, fatal goes to the dead letters at once', async () => {
    const plain = await runJob(() => {
      throw new Error('plain');
    });
    expect(plain).toMatchObject({
      status: 'failed',
      retryCount: 3,
      failure: { code: 'TASK_EXECUTION_FAILED', message: 'plain', retryable: true },
    });
    const grave = await runJob(({ step }) =>
      step.run('grave', () => {
        throw fatal(Object.assign(new Error('no such card'), { code: 'CARD_UNKNOWN' }));
      }),
    );
    expect(grave).toMatchObject({ retryCount: 0, failure: { code: 'CARD_UNKNOWN', retryable: false } });
  });

  test('a failure that the handler caught is the same in a replay of that attempt', async () => {
    const seen: string[] = [];
    const job = await runJob(async ({ step }) => {
      const outcome = await step
        .run('maybe', () => {
          throw new Error('first time');
        })
        .catch((error: Error) => error.message);
      seen.push(outcome);
      await step.sleep('pause', '1h');
      return outcome;
    });
    expect(job.result).toBe('"first time"');
    expect(seen).toEqual(['first time', 'first time']);
  });

  test('parallel steps that finish together share one commit', async () => {
    const job = await runJob(async ({ step }) => {
      const all = await Promise.all(Array.from({ length: 50 }, (_, n) => step.run('each', () => n)));
      return all.length;
    });
    expect(job.result).toBe('50');
    expect(job.rev).toBeLessThan(10);
  });
});

describe('recorded values', () => {
  test('GUA-6 time, chance and ids are the same in every replay', async () => {
    const seen: unknown[] = [];
    await runJob(async ({ step }) => {
      const values = [await step.now(), await step.random(), await step.uuid(), await step.uuid()];
      seen.push(values);
      await step.sleep('pause', '1h');
    });
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual(seen[1]);
    const [now, random, one, other] = seen[0] as [number, number, string, string];
    expect(now).toBe(T0);
    expect(random).toBeGreaterThanOrEqual(0);
    expect(random).toBeLessThan(1);
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one).not.toBe(other);
  });

  test('JOB-6 the execution key is the job and its retry count', async () => {
    const keys: string[] = [];
    const { spec } = await runJob(({ job }) => {
      keys.push(job.executionKey);
      if (keys.length < 3) throw new Error('again');
    });
    expect(keys).toEqual([`${spec.jobId}:0`, `${spec.jobId}:1`, `${spec.jobId}:2`]);
  });
});

describe('bad use of steps', () => {
  test.each<[string, Handler]>([
    ['STEP_NAME_REUSED', async ({ step }) => (await step.run('x', () => 1), step.sleep('x', '1s'))],
    ['INVALID_OPTION', ({ step }) => step.run('a#b', () => 1)],
    ['INVALID_OPTION', ({ step }) => step.run('', () => 1)],
    ['INVALID_OPTION', ({ step }) => step.run('$now', () => 1)],
    ['INVALID_OPTION', ({ step }) => step.sleep('$pause:x', '1s')],
    ['INVALID_OPTION', ({ step }) => step.run(7 as unknown as string, () => 1)],
    ['INVALID_OPTION', ({ step }) => step.run('x'.repeat(201), () => 1)],
    ['INVALID_OPTION', ({ step }) => step.sleep('nap', 'soon' as '1s')],
    ['INVALID_OPTION', ({ step }) => step.sleep('nap', 1e300)],
    ['INVALID_OPTION', ({ step }) => step.sleepUntil('nap', new Date('bad'))],
    ['INVALID_OPTION', ({ step }) => step.sleepUntil('nap', Number.NaN)],
    ['INVALID_OPTION', ({ step }) => step.sleepUntil('nap', Number.POSITIVE_INFINITY)],
    ['INVALID_OPTION', ({ step }) => step.sleepUntil('nap', null as unknown as Date)],
    ['INVALID_OPTION', ({ step }) => step.waitFor('word', { timeout: 1e300 })],
    ['INVALID_OPTION', ({ step }) => step.run('x', () => 1, { retry: { baseMs: Number.NaN } })],
    ['INVALID_OPTION', ({ step }) => step.run('x', () => 1, { retry: { tries: 2 } as object })],
    ['INVALID_SIGNAL_KEY', ({ step }) => step.waitFor('not a key')],
    ['WAIT_KEY_REUSED', ({ step }) => Promise.all([step.waitFor('same'), step.waitFor('same')])],
    ['NOT_SERIALISABLE', ({ step }) => step.run('big', () => 10n)],
    ['NOT_SERIALISABLE', () => () => 1],
    ['PAYLOAD_TOO_LARGE', ({ step }) => step.run('huge', () => 'x'.repeat(1_100_000))],
    ['PAYLOAD_TOO_LARGE', () => JSON.parse('['.repeat(70) + ']'.repeat(70)) as unknown],
    ['CHECKPOINT_MISPLACED', async ({ step }) => (await step.run('x', () => 1), step.resume(0))],
  ])('%s, at once and without a retry', async (code, handler) => {
    const job = await runJob(handler);
    expect(job).toMatchObject({ status: 'failed', retryCount: 0, failure: { code, retryable: false } });
    expect(job.failure?.message).not.toMatch(/undefined|\[object/);
  });
});

test.each(['a\u0000b', 'a\nb', 'a\u007f', 'half a \ud83d'])(
  'GUA-6 a name that the log cannot hold is refused before anything is run under it: %j',
  async (name) => {
    let ran = 0;
    const job = await runJob(({ step }) => step.run(name, () => ++ran));
    expect(job.failure?.message).toContain('is no name of a step');
    expect({ code: job.failure?.code, ran }).toEqual({ code: 'INVALID_OPTION', ran: 0 });
  },
);
