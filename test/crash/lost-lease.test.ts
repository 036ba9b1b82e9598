import { stat } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/client/system-clock.js';
import { effect, happened, pawl, task, type Pawl } from '../../src/index.js';
import type { Job, WorkerRef } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { quarantine } from '../../src/worker/quarantine.js';
import { aJobSpec } from '../../src/testkit/index.js';

const LEASE_MS = 1_500;

let app: Pawl | null = null;
afterEach(() => app?.close());

test('GUA-4 an effect is entered when the renewal of its lease arrives late, and does not wait for ever', async () => {
  const inner = memoryStore({ clock: systemClock });
  const sentAt: number[] = [];
  let letGo: () => void = () => undefined;
  const store: Store = {
    ...inner,
    async beat(beat) {
      sentAt.push(performance.now());
      const reply = await inner.beat(beat);
      if (sentAt.length === 3) await new Promise<void>((resolve) => (letGo = resolve));
      return reply;
    },
    async commit(items) {
      const reply = await inner.commit(items);
      if (!items.some(({ body }) => body.includes('effect.intended'))) return reply;
      // The loop stands still until the last renewal is over. The next arrives just after the handler has gone on.
      const cell = new Int32Array(new SharedArrayBuffer(4));
      Atomics.wait(cell, 0, 0, (sentAt[1] ?? 0) + LEASE_MS + 20 - performance.now());
      setImmediate(() => letGo());
      return reply;
    },
  };
  let entered = 0;
  const once = effect({ name: 'once', run: () => (entered += 1), reconcile: () => happened(0) });
  const late = task({ name: 'late' }, async ({ step }) => {
    await step.run('renew', async () => {
      // Ends with word of a file, not with a timer: after it, what is set for immediately comes before any timer.
      while (sentAt.length < 3) await stat('.');
    });
    return step.effect('enter', once, null);
  });
  app = await pawl({ store, tasks: [late] });
  await app.work({ lease: LEASE_MS, poll: 20 });
  const { job } = await app.start(late, null);
  expect(await job.result({ timeout: '200s' })).toBe(1);
  expect(entered).toBe(1);
});

test('GUA-2 jobs that were claimed by an incarnation which died meanwhile are not run by it', async () => {
  const inner = memoryStore({ clock: systemClock });
  let reborn: () => void = () => undefined;
  const rebirth = new Promise<void>((resolve) => (reborn = resolve));
  let first: WorkerRef | null = null;
  const store: Store = {
    ...inner,
    async beat(beat) {
      const reply = await inner.beat(beat);
      first ??= beat.worker;
      if (beat.worker.incarnation !== first.incarnation) reborn();
      return reply;
    },
    async claim(request) {
      const reply = await inner.claim(request);
      if (reply.jobs.length === 0 || request.worker.incarnation !== first?.incarnation) return reply;
      // It dies, is told so, and takes a new incarnation, all before it hears of its claim.
      const later = { ...request.worker, incarnation: `${request.worker.incarnation}.later` };
      await inner.beat({ worker: later, leaseMs: 1, lanes: [] });
      await rebirth;
      return reply;
    },
  };
  const runs: string[] = [];
  const seen = task({ name: 'seen' }, ({ job }) => {
    runs.push(job.executionKey);
    return 'done';
  });
  app = await pawl({ store, tasks: [seen] });
  await app.work({ lease: LEASE_MS / 5, poll: 20 });
  const { job } = await app.start(seen, null);
  expect(await job.result({ timeout: '200s' })).toBe('done');
  expect(runs).toHaveLength(1);
  expect((await job.status()).recoveryCount).toBe(1);
});

test('DEC-2 of jobs that crash again and again one runs at a time; others are not held up', () => {
  const job = (jobId: string, recoveryCount: number) => ({ recoveryCount, spec: aJobSpec({ jobId }) }) as Job;
  const free = quarantine({ occupied: false });
  expect(free.admits(job('a', 1))).toBe(true);
  expect(free.admits(job('b', 2))).toBe(true);
  expect(free.left()).toEqual([]);
  expect(free.admits(job('c', 5))).toBe(false);
  expect(free.left()).toEqual(['c']);
  // A store that repeats its transaction asks about the same ones again.
  expect(free.admits(job('b', 2))).toBe(true);
  expect(free.admits(job('d', 0))).toBe(true);
  expect(quarantine({ occupied: true }).admits(job('b', 2))).toBe(false);
});
