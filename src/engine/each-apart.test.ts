import { describe, expect, test } from 'vitest';
import { task } from '../client/task.js';
import { PawlError } from '../errors.js';
import { InvariantViolation } from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { advanceUntil, fakeClock, T0, testApp } from '../testkit/index.js';
import { eachApart } from './each-apart.js';

const WORK = { lease: '10m', poll: '1s' } as const;

/** A store on which the jobs of these ids cannot be read, as after a disk has lost some bytes. */
function damaged() {
  const clock = fakeClock(T0);
  const inner = memoryStore({ clock });
  const unreadable = new Set<string>();
  const store: Store = {
    ...inner,
    close: async () => undefined,
    load: async (jobId) => {
      if (unreadable.has(jobId)) throw new InvariantViolation(`the log of ${jobId} cannot be read`);
      return inner.load(jobId);
    },
  };
  return { clock, store, unreadable };
}

/** One that keeps what is said as an error. */
function listener() {
  const errors: string[] = [];
  const none = () => undefined;
  return { errors, log: { debug: none, info: none, warn: none, error: (text: string) => errors.push(text) } };
}

describe('GUA-13 a job that cannot be read holds up no other', () => {
  test('whose waits end', async () => {
    const nap = task({ name: 'nap' }, ({ step }) => step.sleep('nap', '1m'));
    const { clock, store, unreadable } = damaged();
    const { errors, log } = listener();
    const rig = await testApp({ tasks: [nap], clock, store, log, work: WORK });
    const [bad, good] = [await rig.app.start(nap, 1), await rig.app.start(nap, 2)];
    const waits = async () => (await rig.app.counts()).waiting === 2;
    await advanceUntil(clock, waits);
    unreadable.add(bad.job.id);
    await advanceUntil(clock, async () => (await rig.app.counts()).succeeded === 1);
    expect(await good.job.status()).toMatchObject({ status: 'succeeded' });
    expect(errors).toContain('ending a wait failed');
    unreadable.clear();
    expect(await rig.ended(bad.job)).toMatchObject({ status: 'succeeded' });
    await rig.stop();
  });

  test('whose waits end, however many such there are, and each is told of once in a minute', async () => {
    const nap = task({ name: 'nap' }, ({ step }) => step.sleep('nap', '1m'));
    const { clock, store, unreadable } = damaged();
    const { errors, log } = listener();
    const rig = await testApp({ tasks: [nap], clock, store, log, work: { ...WORK, concurrency: 500 } });
    const sick = await rig.app.startMany(
      nap,
      Array.from({ length: 450 }, () => ({ input: null })),
    );
    await advanceUntil(clock, async () => (await rig.app.counts()).waiting === 450);
    const { job } = await rig.app.start(nap, null);
    for (const one of sick) unreadable.add(one.job.id);
    const startedAt = clock.now();
    await advanceUntil(clock, async () => (await job.status()).status === 'succeeded');
    expect(clock.now() - startedAt).toBeLessThan(65_000);
    expect(errors).toHaveLength(450);
    await rig.stop();
  });

  test('whose children have ended', async () => {
    const child = task({ name: 'child' }, ({ step }) => step.sleep('nap', '1m'));
    const parent = task({ name: 'parent' }, ({ step }) => step.call('child', child, null));
    const { clock, store, unreadable } = damaged();
    const { errors, log } = listener();
    const rig = await testApp({ tasks: [child, parent], clock, store, log, work: WORK });
    const [bad, good] = [await rig.app.start(parent, 1), await rig.app.start(parent, 2)];
    await advanceUntil(clock, async () => (await rig.app.counts()).waiting === 4);
    unreadable.add(bad.job.id);
    await advanceUntil(clock, async () => (await rig.app.counts()).succeeded === 3);
    expect(await good.job.status()).toMatchObject({ status: 'succeeded' });
    expect(errors).toContain('telling a job of its messages failed');
    unreadable.clear();
    expect(await rig.ended(bad.job)).toMatchObject({ status: 'succeeded' });
    await rig.stop();
  });
});

test.each(['STORE_UNAVAILABLE', 'STORE_READ_ONLY', 'STORE_ACCESS_DENIED'] as const)(
  'GUA-11 a store that cannot be used (%s) is everybody’s trouble',
  async (code) => {
    const { log } = listener();
    const work = async (name: string) => {
      throw name === 'down' ? new PawlError(code, { detail: 'it is gone' }) : new Error(name);
    };
    const all = { doing: 'it', nameOf: (name: string) => name, work };
    expect(await eachApart({ log }, ['a', 'b'], all)).toEqual(['a', 'b']);
    await expect(eachApart({ log }, ['a', 'down'], all)).rejects.toMatchObject({ code });
  },
);
