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
});
