import { describe, expect, test } from 'vitest';
import { PawlError } from '../errors.js';
import { task } from '../client/task.js';
import type { ClaimRequest, Store } from '../ports/store.js';
import { advanceUntil } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';

type SlowClaim = Pick<ClaimRequest, 'limit' | 'hasSuspect'> & {
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
};

/** A store that knows at once which jobs a claim gets, and from the second on takes until it is told to write them. */
function slowWriter(store: Store): { via: Store; claims: SlowClaim[] } {
  const claims: SlowClaim[] = [];
  let isFirst = true;
  const claim: Store['claim'] = async (request) => {
    const claimed = await store.claim(request);
    if (claimed.jobs.length === 0) return claimed;
    if (claimed.jobs.length === request.limit) request.picked?.(claimed.lastTenant);
    const { limit, hasSuspect = false } = request;
    if (!isFirst) {
      await new Promise<void>((resolve, reject) => {
        claims.push({ limit, hasSuspect, answer: resolve, fail: reject });
      });
    }
    isFirst = false;
    return claimed;
  };
  return { via: { ...store, claim }, claims };
}

/** A worker that has had its first 500 jobs and ended them, on a store with more. `after`: how all claims but the first go on. */
async function flowing(after: (request: ClaimRequest) => ReturnType<Store['claim']>) {
  const cluster = newCluster();
  let claims = 0;
  const claim: Store['claim'] = async (request) => {
    claims += 1;
    if (claims > 1) request.picked?.('');
    if (claims > 1) return after(request);
    const claimed = await cluster.store.claim(request);
    request.picked?.(claimed.lastTenant);
    return claimed;
  };
  const job = task({ name: 'job' }, () => null);
  const client = await cluster.join([job], false);
  await client.app.startMany(job, jobsOf(500));
  const rig = await cluster.join([job], { concurrency: 1_000 }, { ...cluster.store, claim });
  await rig.idle();
  return { cluster, rig, claims: () => claims };
}

const jobsOf = (count: number) => Array.from({ length: count }, (_, input) => ({ input }));

describe('claims that are under way at once', () => {
  test('they bring no more jobs than there is room for, and what is left comes with the next', async () => {
    const cluster = newCluster();
    const { via, claims } = slowWriter(cluster.store);
    let running = 0;
    let most = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const job = task({ name: 'job' }, async () => {
      most = Math.max(most, (running += 1));
      await released;
      running -= 1;
    });
    const client = await cluster.join([job], false);
    await client.app.startMany(job, jobsOf(900));
    const rig = await cluster.join([job], { concurrency: 800 }, via);
    await rig.idle();
    expect(claims.map(({ limit, hasSuspect }) => [limit, hasSuspect])).toEqual([
      [250, false],
      [50, true],
    ]);
    for (const { answer } of claims.splice(0).toReversed()) answer();
    await rig.idle();
    expect([running, claims]).toEqual([800, []]);
    release();
    await advanceUntil(cluster.clock, async () => {
      for (const { answer } of claims.splice(0)) answer();
      return (await client.app.counts())['succeeded'] === 900;
    });
    expect(most).toBe(800);
  });

  test('GUA-11 one that fails is tried again, and its jobs are run: those of the other by then, its own when they are found', async () => {
    const cluster = newCluster();
    const { via, claims } = slowWriter(cluster.store);
    const job = task({ name: 'job' }, () => null);
    const client = await cluster.join([job], false);
    await client.app.startMany(job, jobsOf(1_000));
    const rig = await cluster.join([job], { concurrency: 1_000 }, via);
    await rig.idle();
    const [first, second] = claims;
    second?.answer();
    first?.fail(new PawlError('STORE_UNAVAILABLE', { detail: 'the reply was lost' }));
    await rig.idle();
    const counts = () => client.app.counts();
    expect(await counts()).toMatchObject({ succeeded: 750, running: 250 });
    await advanceUntil(cluster.clock, async () => {
      for (const { answer } of claims.splice(0)) answer();
      return (await counts())['succeeded'] === 1_000;
    });
  });

  test('DEC-5 a worker that stops has none left: what they bring is run, or handed back', async () => {
    const cluster = newCluster();
    const { via, claims } = slowWriter(cluster.store);
    const job = task({ name: 'job' }, () => null);
    const client = await cluster.join([job], false);
    await client.app.startMany(job, jobsOf(1_000));
    const rig = await cluster.join([job], { concurrency: 1_000 }, via);
    await rig.idle();
    let isStopped = false;
    const stopped = rig.app.stop().then(() => (isStopped = true));
    await rig.idle();
    expect([claims.length, isStopped]).toEqual([2, false]);
    for (const { answer } of claims) answer();
    await rig.run(stopped);
    expect((await client.app.counts())['running'] ?? 0).toBe(0);
  });

  test('GUA-11 where looking for jobs goes well and writing them fails, ever longer pauses are made', async () => {
    const broken = new PawlError('STORE_UNAVAILABLE', { detail: 'the disk is full' });
    const { cluster, rig, claims } = await flowing(() => Promise.reject(broken));
    const until = cluster.clock.now() + 10_000;
    await advanceUntil(cluster.clock, async () => cluster.clock.now() >= until);
    await rig.idle();
    expect(claims()).toBeGreaterThan(4);
    expect(claims()).toBeLessThan(14);
  });

  test('DEC-2 jobs that wait for another suspect to end are not asked for again and again', async () => {
    const decided = { heads: [], leftSuspect: true };
    const { cluster, rig, claims } = await flowing(async () => {
      const { now } = await cluster.store.counts({ tenantId: null });
      return { now, alive: true, jobs: [], lastTenant: '', decided };
    });
    const before = claims();
    const until = cluster.clock.now() + 10_000;
    await advanceUntil(cluster.clock, async () => cluster.clock.now() >= until);
    await rig.idle();
    expect(claims() - before).toBeGreaterThan(4);
    expect(claims() - before).toBeLessThan(14);
  });
});
