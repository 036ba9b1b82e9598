import { expect, onTestFinished, test } from 'vitest';
import { effect, fatal, noEffect, notHappened, pawl, task, type Task } from '../index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0 } from '../testkit/index.js';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

async function open<R>(run: Task<unknown, R>, store: Store | 'memory:' = 'memory:') {
  const clock = fakeClock(T0);
  const app = await pawl({ store, tasks: [run], clock, log });
  await app.work({ poll: '1m' });
  onTestFinished(() => app.close());
  const { job } = await app.start(run, null);
  const until = (status: string) => advanceUntil(clock, async () => (await job.status()).status === status);
  return { app, clock, job, until };
}

test.each(['0ms', '1m'] as const)(
  'an effect that throws and did not happen is entered once in each attempt, whether it is found out at once or later (settle %s)',
  async (settle) => {
    let entries = 0;
    const lost = effect({
      name: 'lost',
      settle,
      run: (): string => {
        entries += 1;
        throw new Error('socket hang up');
      },
      reconcile: () => notHappened(),
    });
    const run = task({ name: 'lose', retry: { maxRetries: 2 } }, ({ step }) =>
      step.effect('lost', lost, null),
    );
    const { job, until } = await open(run);
    await until('failed');
    expect(entries).toBe(3);
    expect(await job.status()).toMatchObject({ retryCount: 2, failure: { message: 'socket hang up' } });
  },
);

test('a failure that the handler caught is the same in a replay: the effect is not entered behind its back', async () => {
  let entries = 0;
  const refused = effect({
    name: 'refused',
    run: (): string => {
      entries += 1;
      throw noEffect(new Error('no connection'));
    },
  });
  const seen: string[] = [];
  const run = task({ name: 'shrug' }, async ({ step }) => {
    const how = await step.effect('send', refused, null).catch((error: Error) => error.message);
    seen.push(how);
    await step.sleep('a while', '1h');
    return how;
  });
  const { job, until } = await open(run);
  await until('succeeded');
  expect(await job.result()).toBe('no connection');
  expect(seen).toEqual(['no connection', 'no connection']);
  expect(entries).toBe(1);
});

test('GUA-4 what an operator knows of one entry decides nothing about the next', async () => {
  let entries = 0;
  const fax = effect({
    name: 'fax',
    run: (): string => {
      entries += 1;
      throw new Error('the line went dead');
    },
  });
  const run = task({ name: 'fax' }, ({ step }) => step.effect('fax', fax, null));
  const { app, job, until } = await open(run);
  const first = { step: 'fax', entry: 1, by: 'ada', verdict: 'notHappened' } as const;
  await until('waiting');
  await app.resolveEffect(job.id, first);
  await until('waiting');
  expect(await app.unknownEffects()).toMatchObject([{ step: 'fax', entry: 2 }]);
  // Said a second time, by somebody who has not heard that it was entered again: this one may have happened.
  await expect(app.resolveEffect(job.id, first)).rejects.toMatchObject({
    code: 'WAIT_NOT_OPEN',
    details: { entry: 2 },
  });
  await app.resolveEffect(job.id, { ...first, entry: 2, verdict: 'happened', result: 'sent' });
  await until('succeeded');
  expect([await job.result(), entries]).toEqual(['sent', 2]);
  await expect(app.resolveEffect(job.id, { ...first, entry: 3 })).rejects.toMatchObject({
    code: 'INVALID_TRANSITION',
  });
});

test('an operator who says that it did not happen lets it be entered again, at no cost', async () => {
  let entries = 0;
  const fax = effect({
    name: 'fax',
    run: (): string => {
      entries += 1;
      if (entries === 1) throw new Error('the line went dead');
      return 'sent';
    },
  });
  const run = task({ name: 'fax', retry: { maxRetries: 0 } }, ({ step }) => step.effect('fax', fax, null));
  const { app, job, until } = await open(run);
  await until('waiting');
  await app.resolveEffect(job.id, { step: 'fax', by: 'ada', verdict: 'notHappened' });
  await until('succeeded');
  expect({ entries, result: await job.result() }).toEqual({ entries: 2, result: 'sent' });
});

test('GUA-7 a body that hangs past its time keeps no later attempt waiting', async () => {
  let entries = 0;
  const hanging = effect({
    name: 'hanging',
    timeout: '10s',
    settle: '1m',
    run: (): Promise<string> | string => {
      entries += 1;
      return entries === 1 ? new Promise<string>(() => undefined) : 'sent';
    },
    reconcile: () => notHappened(),
  });
  let attempts = 0;
  const run = task({ name: 'hang' }, async ({ step }) => {
    attempts += 1;
    const sent = step.effect('send', hanging, null);
    // Something else of the first attempt fails while the body hangs.
    if (attempts === 1) await step.run('other', () => Promise.reject(new Error('no')));
    return sent;
  });
  const { job, until } = await open(run);
  await until('succeeded');
  expect({ entries, result: await job.result() }).toEqual({ entries: 2, result: 'sent' });
});

test('GUA-4 a result that is stored while an operator decides wins, and the decision comes to an end', async () => {
  const memory = memoryStore({ clock: fakeClock(T0) });
  const fax = effect({
    name: 'fax',
    run: (): string => {
      throw new Error('the line went dead');
    },
  });
  const run = task({ name: 'fax' }, ({ step }) => step.effect('fax', fax, null));
  let isStored = false;
  const store: Store = {
    ...memory,
    // The late result arrives just after the operator has looked.
    effects: async (jobId) => {
      const found = await memory.effects(jobId);
      if (decides && !isStored) {
        isStored = true;
        await memory.putEffect({ jobId, step: 'fax', occurrence: 1, entry: 1, result: '"sent"' });
      }
      return found;
    },
  };
  let decides = false;
  const { app, job, until } = await open(run, store);
  await until('waiting');
  decides = true;
  await app.resolveEffect(job.id, { step: 'fax', by: 'ada', verdict: 'notHappened' });
  await until('succeeded');
  expect(await job.result()).toBe('sent');
});

test.each([
  ['retryable', 2],
  ['fatal', 0],
] as const)(
  'GUA-4 a reconcile that throws (%s) leaves the job to an operator once no retry is left',
  async (kind, retries) => {
    let entries = 0;
    const charge = effect({
      name: 'charge',
      settle: '1s',
      run: (): string => {
        entries += 1;
        throw new Error('socket hang up');
      },
      reconcile: () => {
        const down = new Error('payments: 503');
        throw kind === 'fatal' ? fatal(down) : down;
      },
    });
    const run = task({ name: 'pay', retry: { maxRetries: 2 } }, ({ step }) =>
      step.effect('charge', charge, null),
    );
    const { app, clock, job, until } = await open(run);
    const before = { step: 'charge', entry: 1 };
    await advanceUntil(clock, async () => (await app.unknownEffects()).length > 0);
    expect(await job.status()).toMatchObject({ status: 'waiting', retryCount: retries });
    expect(await app.unknownEffects()).toMatchObject([before]);
    await app.resolveEffect(job.id, { ...before, by: 'ada', verdict: 'happened', result: 'paid' });
    await until('succeeded');
    expect([await job.result(), entries]).toEqual(['paid', 1]);
  },
);
