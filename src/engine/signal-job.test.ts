import { expect, test } from 'vitest';
import { task } from '../client/task.js';
import type { Store } from '../ports/store.js';
import { advanceUntil, type Cluster } from '../testkit/index.js';
import { onEveryStore } from '../../test/on-every-store.js';

/** Waits a minute for `go`, then for `end`, however long that takes. */
const patient = task({ name: 'patient' }, async ({ step }) => {
  const go = await step.waitFor('go', { timeout: '1m' });
  return [go, await step.waitFor('end')];
});

/** The same behind a checkpoint, from which on nobody reads what was before. */
const looping = task({ name: 'looping' }, async ({ step }) => {
  const rounds = step.resume<{ heard: unknown[] }>({ heard: [] });
  if (rounds.heard.length === 0) {
    rounds.heard.push(await step.waitFor('early'), await step.waitFor('go', { timeout: '1m' }));
    await step.checkpoint(rounds);
  }
  return [...rounds.heard, await step.waitFor('end')];
});

/** A store that does something of its own when it is asked for one thing: before that, or after. */
function meddled<K extends 'putMessage' | 'inbox'>(
  store: Store,
  name: K,
  meddle: (ask: () => ReturnType<Store[K]>) => ReturnType<Store[K]>,
): Store {
  const asked = store[name] as (...given: unknown[]) => ReturnType<Store[K]>;
  const meddling = (...given: unknown[]) => meddle(() => asked(...given));
  return new Proxy(store, {
    get: (target, called: keyof Store) => (called === name ? meddling : target[called]),
  });
}

async function until({ clock, store }: Cluster, jobId: string, waitsFor: string): Promise<void> {
  await advanceUntil(clock, async () => {
    const job = (await store.load(jobId)).found?.job;
    return job?.status === 'waiting' && job.waits.some(({ key }) => key === waitsFor);
  });
}

/** As many waits, one after the other, as there are signals; then one more. */
const storm = task<{ n: number }, number>({ name: 'storm' }, async ({ input, step }) => {
  let sum = 0;
  for (let i = 0; i < input.n; i++) sum += await step.waitFor<number>(`s${i}`);
  return sum + (await step.waitFor<number>('end'));
});

/** A store that counts what it hands out of logs and inboxes. */
function counted(store: Store): { readonly store: Store; readonly read: { rows: number } } {
  const read = { rows: 0 };
  const counting: Pick<Store, 'log' | 'inbox'> = {
    async log(...asked) {
      const reply = await store.log(...asked);
      read.rows += reply.rows.length;
      return reply;
    },
    async inbox(jobId) {
      const reply = await store.inbox(jobId);
      read.rows += reply.messages.length;
      return reply;
    },
  };
  return {
    read,
    store: new Proxy(store, {
      get: (target, name: keyof Store) =>
        name === 'log' || name === 'inbox' ? counting[name] : target[name],
    }),
  };
}

const TOO_LATE = { code: 'WAIT_NOT_OPEN', details: { key: 'go' } };

onEveryStore((fresh) => {
  test.each([
    ['patient', patient],
    ['looping', looping],
  ])(
    'GUA-8 a signal whose wait has run out is refused, and nothing is kept of it: %s',
    async (_, waiting) => {
      const cluster = await fresh.cluster();
      const { app } = await cluster.join([waiting]);
      const { job } = await app.start(waiting, null);
      if (waiting === looping) expect(await job.signal('early', 1)).toMatch(/delivered|kept/);
      await until(cluster, job.id, 'end');
      for (let sent = 0; sent < 3; sent++) await expect(job.signal('go', 1)).rejects.toMatchObject(TOO_LATE);
      expect((await cluster.store.inbox(job.id)).messages).toEqual([]);
      expect((await cluster.store.unread({ after: null, limit: 10 })).jobIds).toEqual([]);
      if (waiting === looping) expect(await job.signal('early', 2)).toBe('repeated');
      expect(await job.signal('end', 2)).toBe('delivered');
      const result = await advanceUntil(cluster.clock, job.result());
      expect(result.at(-1)).toBe(2);
      await expect(job.signal('go', 1)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
      expect(await job.signal('end', 3)).toBe('repeated');
    },
  );

  test('GUA-8 a wait that ends while its signal is being written: the sender learns that it came too late, now and later', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([patient]);
    const { job } = await app.start(patient, null);
    await until(cluster, job.id, 'go');
    const slow = meddled(cluster.store, 'putMessage', async (ask) => {
      await until(cluster, job.id, 'end');
      return ask();
    });
    const sender = await cluster.join([patient], false, slow);
    for (let sent = 0; sent < 2; sent++)
      await expect(sender.app.job(job.id).signal('go', 1)).rejects.toMatchObject(TOO_LATE);
    expect(await job.signal('end', 2)).toBe('delivered');
    expect(await advanceUntil(cluster.clock, job.result())).toEqual([null, 2]);
    await expect(job.signal('go', 1)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  test('GUA-8 a signal that is written before its wait ends is read, also if whoever ends it has looked just before', async () => {
    const cluster = await fresh.cluster();
    let written = 0;
    const late = meddled(cluster.store, 'inbox', async (ask) => {
      const reply = await ask();
      // The bearer writes it down, and vanishes.
      if ((written += 1) === 1) {
        const [jobId = ''] = (await cluster.store.due({ limit: 1, except: [] })).jobIds;
        await cluster.store.putMessage({ jobId, key: 'go', payload: '1' });
      }
      return reply;
    });
    const { app } = await cluster.join([patient], {}, late);
    const { job } = await app.start(patient, null);
    await until(cluster, job.id, 'end');
    expect(await job.signal('go', 2)).toBe('repeated');
    expect(await job.signal('end', 2)).toBe('delivered');
    expect(await advanceUntil(cluster.clock, job.result())).toEqual([1, 2]);
  });

  test('GUA-8 a signal that the job begins to wait for while it is being written is delivered at once', async () => {
    const cluster = await fresh.cluster();
    const { app } = await cluster.join([patient]);
    const { job } = await app.start(patient, null);
    const slow = meddled(cluster.store, 'putMessage', async (ask) => {
      await until(cluster, job.id, 'go');
      return ask();
    });
    const sender = await cluster.join([patient], false, slow);
    expect(await sender.app.job(job.id).signal('go', 1)).toBe('delivered');
  });

  test('a job that gets many signals: what is read for each does not grow with their number', async () => {
    const n = 300;
    const cluster = await fresh.cluster();
    const { store, read } = counted(cluster.store);
    const { app } = await cluster.join([storm], {}, store);
    const { job } = await app.start(storm, { n });
    const numbers = Array.from({ length: n }, (_, i) => i);
    const sent = await Promise.all(numbers.map((i) => job.signal(`s${i}`, i)));
    expect(sent).not.toContain('repeated');
    await until(cluster, job.id, 'end');
    for (const i of numbers) expect(await job.signal(`later${i}`, i)).toBe('kept');
    for (const i of numbers) expect(await job.signal(`s${i}`, i)).toBe('repeated');
    expect(await job.signal('end', 1)).toBe('delivered');
    expect(await advanceUntil(cluster.clock, job.result())).toBe(1 + (n * (n - 1)) / 2);
    expect(read.rows).toBeLessThan(20 * n);
  });

  test('a handler that has its next message at hand does not read its inbox again because of others', async () => {
    const n = 100;
    const cluster = await fresh.cluster();
    const { store, read } = counted(cluster.store);
    const busy = task<null, number>({ name: 'busy' }, async ({ job, step }) => {
      for (let i = 0; i < n; i++) {
        await step.waitFor(`s${i}`);
        await step.run('tell', () => app.job(job.id).signal(`other${i}`, i));
      }
      return n;
    });
    const { app } = await cluster.join([busy], false);
    const { job } = await app.start(busy, null);
    await Promise.all(Array.from({ length: n }, (_, i) => job.signal(`s${i}`, i)));
    await cluster.join([busy], {}, store);
    expect(await advanceUntil(cluster.clock, job.result())).toBe(n);
    expect(read.rows).toBeLessThan(10 * n);
  });
});
