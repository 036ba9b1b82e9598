import { describe, expect, test } from 'vitest';
import { PawlError } from '../errors.js';
import { task } from '../client/task.js';
import type { ClaimRequest, Store } from '../ports/store.js';
import { advanceUntil } from '../testkit/index.js';
import { newCluster } from '../../test/new-cluster.js';

type Claim = Store['claim'];
type Crowd = { readonly jobs: number; readonly concurrency: number; readonly run?: () => unknown };

/** A worker with a crowd of jobs, on a store in memory that answers claims as is told. */
async function workOn(claimOn: (store: Store) => Claim, { jobs, concurrency, run = () => null }: Crowd) {
  const cluster = newCluster();
  const job = task({ name: 'job' }, run);
  const client = await cluster.join([job], false);
  await client.app.startMany(
    job,
    Array.from({ length: jobs }, (_, input) => ({ input })),
  );
  const via = { ...cluster.store, claim: claimOn(cluster.store) };
  const rig = await cluster.join([job], { concurrency }, via);
  await rig.idle();
  return { clock: cluster.clock, rig, counts: () => client.app.counts() };
}

type SlowClaim = Pick<ClaimRequest, 'limit' | 'hasSuspect'> & {
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
};

/** Knows at once which jobs a claim gets, and from the second claim on takes until it is told to write them. */
async function slowWriter(crowd: Crowd) {
  const claims: SlowClaim[] = [];
  let isFirst = true;
  const claimOn =
    (store: Store): Claim =>
    async (request) => {
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
  const answerAll = () => {
    for (const { answer } of claims.splice(0).toReversed()) answer();
  };
  return { ...(await workOn(claimOn, crowd)), claims, answerAll };
}

/** After a first claim of 500 jobs all say at once that they are full, and come to what `after` says. How many follow within 10 s. */
async function claimsWithin10s(after: (store: Store, nth: number) => ReturnType<Claim>): Promise<number> {
  let claims = 0;
  const claimOn =
    (store: Store): Claim =>
    async (request) => {
      claims += 1;
      if (claims === 1) {
        const claimed = await store.claim(request);
        request.picked?.(claimed.lastTenant);
        return claimed;
      }
      request.picked?.('');
      return after(store, claims - 1);
    };
  const { clock, rig } = await workOn(claimOn, { jobs: 500, concurrency: 1_000 });
  const until = clock.now() + 10_000;
  await advanceUntil(clock, async () => clock.now() >= until);
  await rig.idle();
  return claims - 1;
}

async function leavesOne(store: Store): ReturnType<Claim> {
  const { now } = await store.counts({ tenantId: null });
  const decided = { heads: [], leftSuspects: ['job_left'] };
  return { now, alive: true, jobs: [], lastTenant: '', decided };
}

describe('claims that are under way at once', () => {
  test('they bring no more jobs than there is room for, and what is left comes with the next', async () => {
    let running = 0;
    let most = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const run = async () => {
      most = Math.max(most, (running += 1));
      await released;
      running -= 1;
    };
    const { clock, rig, counts, claims, answerAll } = await slowWriter({ jobs: 900, concurrency: 800, run });
    expect(claims.map(({ limit, hasSuspect }) => [limit, hasSuspect])).toEqual([
      [250, false],
      [50, true],
    ]);
    answerAll();
    await rig.idle();
    expect([running, claims]).toEqual([800, []]);
    release();
    await advanceUntil(clock, async () => {
      answerAll();
      return (await counts())['succeeded'] === 900;
    });
    expect(most).toBe(800);
  });

  test('GUA-11 one that fails is tried again, and its jobs are run: those of the other by then, its own when they are found', async () => {
    const crowd = { jobs: 1_000, concurrency: 1_000 };
    const { clock, rig, counts, claims, answerAll } = await slowWriter(crowd);
    const [first, second] = claims.splice(0);
    second?.answer();
    first?.fail(new PawlError('STORE_UNAVAILABLE', { detail: 'the reply was lost' }));
    await rig.idle();
    expect(await counts()).toMatchObject({ succeeded: 750, running: 250 });
    await advanceUntil(clock, async () => {
      answerAll();
      return (await counts())['succeeded'] === 1_000;
    });
  });

  test('DEC-5 a worker that stops has none left: what they bring is run, or handed back', async () => {
    const { rig, counts, claims, answerAll } = await slowWriter({ jobs: 1_000, concurrency: 1_000 });
    let isStopped = false;
    const stopped = rig.app.stop().then(() => (isStopped = true));
    await rig.idle();
    expect([claims.length, isStopped]).toEqual([2, false]);
    answerAll();
    await rig.run(stopped);
    expect((await counts())['running'] ?? 0).toBe(0);
  });

  test('GUA-11 where looking for jobs goes well and writing them fails, ever longer pauses are made', async () => {
    const broken = new PawlError('STORE_UNAVAILABLE', { detail: 'the disk is full' });
    const claims = await claimsWithin10s(() => Promise.reject(broken));
    expect(claims).toBeGreaterThan(3);
    expect(claims).toBeLessThan(14);
  });

  test('DEC-2 jobs that wait for another suspect to end are asked for as often as is polled, and no more', async () => {
    const claims = await claimsWithin10s(leavesOne);
    expect(claims).toBeGreaterThan(8);
    expect(claims).toBeLessThan(20);
  });

  test('GUA-11 DEC-2 so are those that wait for a claim that is not answered, and once it is they are asked for', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let asked = 0;
    const claims = await claimsWithin10s(async (store, nth) => {
      asked = nth;
      if (nth === 1) await answered;
      return leavesOne(store);
    });
    expect(claims).toBeGreaterThan(8);
    expect(claims).toBeLessThan(20);
    answer();
    await new Promise(setImmediate);
    expect(asked).toBeGreaterThan(claims);
  });
});
