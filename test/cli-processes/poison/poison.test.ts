import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLog } from '../../../src/engine/read-log.js';
import { eventually } from '../../../src/matrix/eventually.js';
import { findProblems } from '../../../src/matrix/find-problems.js';
import { sightings } from '../../../src/matrix/witness.js';
import { WorkerProcess } from '../../../src/matrix/worker-process.js';
import { bundled } from '../../bundled.js';
import { sqliteGround } from '../../crash/crash-ground.js';
import { endlessLoop, heapBomb, neighbour } from './poison-tasks.js';
import type { Order } from './poisoned-worker.js';

const PROGRAM = join(await bundled(), 'test/cli-processes/poison/poisoned-worker.js');
const WORK = { lease: 500, poll: 20, stopOnSignal: false } as const;

/** The poison may be tried so often, and there is one worker more. */
const ATTEMPTS = 3;
const WORKERS = ATTEMPTS + 1;

test.each([
  ['an endless loop', endlessLoop, 'stalls'],
  ['a heap bomb', heapBomb, 'SIGABRT'],
] as const)(
  'DEC-2 %s takes down one worker after the other, and is dead-lettered before the last; its neighbours finish',
  async (_what, poison, ending) => {
    const ground = await sqliteGround();
    const witness = join(ground.folder, 'witness');
    const workers = Array.from(
      { length: WORKERS },
      () => new WorkerProcess<Order>([process.execPath, '--max-old-space-size=64', PROGRAM]),
    );
    onTestFinished(async () => {
      await Promise.all(workers.map((worker) => worker.kill()));
      await ground.close();
    });
    const { app, store } = ground;
    await Promise.all(workers.map((worker) => worker.order({ store: ground.url, work: WORK })));
    const { job: bad } = await app.start(poison, { witness });
    const neighbours = await app.startMany(
      neighbour,
      Array.from({ length: 10 }, () => ({ input: { witness } })),
    );
    for (const { job } of neighbours) expect(await job.result({ timeout: '200s' })).toBe('unharmed');
    await eventually(
      async () => ((await bad.status()).finishedAt === null ? null : true),
      'it is dead-lettered',
    );

    expect(await bad.status()).toMatchObject({ status: 'failed', failure: { code: 'PROCESS_RESTARTED' } });
    const { items } = await store.dlq({ tenantId: null, status: 'open', after: null, limit: 10 });
    expect(items.map(({ jobId }) => jobId)).toEqual([bad.id]);
    const events = (await readLog(store, bad.id)).flatMap((commit) => commit.events);
    const told = events.map((event) => (event.type === 'attempt.interrupted' ? event.reason : event.type));
    expect(told.filter((one) => one === 'attempt.started')).toHaveLength(ATTEMPTS);
    expect(told.filter((one) => one === 'lease_expired')).toHaveLength(ATTEMPTS);
    for (const { id } of [bad, ...neighbours.map(({ job }) => job)]) {
      expect(await findProblems(store, id)).toEqual([]);
    }

    // Whoever was taken down was so once, and by this. A busy machine may cost a claim its lease before it comes to that.
    const taken = sightings(witness).map(({ pid }) => pid);
    expect(taken.length).toBeGreaterThan(1);
    expect(taken.length).toBeLessThanOrEqual(ATTEMPTS);
    const endOf = ({ pid, isGone, signalCode }: WorkerProcess<Order>) =>
      isGone ? signalCode : taken.includes(pid) ? 'stalls' : 'works';
    const ends = workers.map(({ pid }) => (taken.includes(pid) ? ending : 'works'));
    await expect.poll(() => workers.map(endOf)).toEqual(ends);
    const { job: last } = await app.start(neighbour, { witness });
    expect(await last.result({ timeout: '200s' })).toBe('unharmed');
    expect(new Set(taken).size).toBe(taken.length);
  },
);
