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

/** A store that knows at once which jobs a claim gets, and takes until it is told to write them. */
function slowWriter(store: Store): { via: Store; claims: SlowClaim[] } {
  const claims: SlowClaim[] = [];
  const claim: Store['claim'] = async (request) => {
    const claimed = await store.claim(request);
    if (claimed.jobs.length === 0) return claimed;
    if (claimed.jobs.length === request.limit) request.picked?.(claimed.lastTenant);
    const { limit, hasSuspect = false } = request;
    await new Promise<void>((resolve, reject) => {
      claims.push({ limit, hasSuspect, answer: resolve, fail: reject });
    });
    return claimed;
  };
  return { via: { ...store, claim }, claims };
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
    await client.app.startMany(job, jobsOf(400));
    const rig = await cluster.join([job], { concurrency: 300 }, via);
    await rig.idle();
    expect(claims.map(({ limit, hasSuspect }) => [limit, hasSuspect])).toEqual([
      [250, false],
      [50, true],
    ]);
    for (const { answer } of claims.splice(0).toReversed()) answer();
    await rig.idle();
    expect([running, claims]).toEqual([300, []]);
    release();
    await rig.idle();
    for (const { answer } of claims) answer();
    const counts = () => client.app.counts();
    await advanceUntil(cluster.clock, async () => (await counts())['succeeded'] === 400);
    expect(most).toBe(300);
  });

  test('GUA-11 one that fails is tried again, and its jobs are run: those of the other by then, its own when they are found', async () => {
    const cluster = newCluster();
    const { via, claims } = slowWriter(cluster.store);
    const job = task({ name: 'job' }, () => null);
    const client = await cluster.join([job], false);
    await client.app.startMany(job, jobsOf(500));
    const rig = await cluster.join([job], { concurrency: 500 }, via);
    await rig.idle();
    const [first, second] = claims;
    second?.answer();
    first?.fail(new PawlError('STORE_UNAVAILABLE', { detail: 'the reply was lost' }));
    await rig.idle();
    const counts = () => client.app.counts();
    expect(await counts()).toMatchObject({ succeeded: 250, running: 250 });
    await advanceUntil(cluster.clock, async () => {
      for (const { answer } of claims.splice(0)) answer();
      return (await counts())['succeeded'] === 500;
    });
  });

  test('DEC-5 a worker that stops has none left: what they bring is run, or handed back', async () => {
    const cluster = newCluster();
    const { via, claims } = slowWriter(cluster.store);
    const job = task({ name: 'job' }, () => null);
    const client = await cluster.join([job], false);
    await client.app.startMany(job, jobsOf(500));
    const rig = await cluster.join([job], { concurrency: 500 }, via);
    await rig.idle();
    let isStopped = false;
    const stopped = rig.app.stop().then(() => (isStopped = true));
    await rig.idle();
    expect([claims.length, isStopped]).toEqual([2, false]);
    for (const { answer } of claims) answer();
    await rig.run(stopped);
    expect((await client.app.counts())['running'] ?? 0).toBe(0);
  });
});
