import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { effect } from '../../client/effect.js';
import { task } from '../../client/task.js';
import type { Store } from '../../ports/store.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { openDatabase } from '../../stores/sqlite/driver.js';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.js';
import { aJobSpec, claimedBy, created, event, fakeClock, T0, testApp } from '../../testkit/index.js';
import { onEveryStore } from '../../../test/on-every-store.js';
import { prepareCommit } from '../prepare-commit.js';
import { EvidenceExport } from './export-evidence.js';
import { verifyEvidence } from './verify-evidence.js';
import { verifyStore } from './verify-store.js';

const folder = mkdtempSync(join(tmpdir(), 'pawl-evidence-'));
afterAll(() => rmSync(folder, { recursive: true }));

const charge = effect({ name: 'charge', run: (cents: number) => `ch_${cents}` });
const order = task({ name: 'order' }, ({ step, input }) => step.effect('charge', charge, input as number));
const broken = task({ name: 'broken', retry: { maxRetries: 1 } }, () => {
  throw new Error('always');
});
const asks = task({ name: 'asks' }, ({ step }) => step.waitFor('answer'));

onEveryStore((fresh) => {
  test('GUA-14 every job of a store is checked, page by page, whatever has become of it', async () => {
    const rig = await fresh.app({ tasks: [order, broken, asks] });
    await rig.app.startMany(
      order,
      Array.from({ length: 210 }, (_, input) => ({ input })),
    );
    const failed = (await rig.app.start(broken, null)).job;
    const waiting = (await rig.app.start(asks, null)).job;
    await rig.app.start(order, 1, { delay: '1d' });
    await rig.ended(failed);
    const progress: number[] = [];
    const verdict = await rig.app.evidence.verifyAll({ onProgress: (jobs) => progress.push(jobs) });
    expect(verdict).toMatchObject({ holds: true, jobs: 213, broken: [], brokenJobs: 0 });
    expect(progress.at(-1)).toBe(213);
    expect(progress.length).toBeGreaterThan(20);
    expect(await rig.app.evidence.verify(waiting.id)).toMatchObject({ holds: true, problem: null });
    await expect(rig.app.evidence.verify('job_nobody')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
    const exported = rig.app.evidence.export([failed.id, waiting.id]);
    expect(await verifyEvidence(exported)).toMatchObject({ holds: true, jobs: 2 });
  });
});

describe('GUA-14 a store that somebody has changed', () => {
  const TAMPERS: Readonly<Record<string, readonly [sql: string, says: string]>> = {
    'a log row': [
      'UPDATE log SET body = replace(body, \'"at":1\', \'"at":2\') WHERE rev = 2',
      'revision 2 does not fit its link',
    ],
    'a payload': ["UPDATE log SET body = replace(body, 'ch_7', 'ch_8')", 'does not fit its link'],
    'a log row that is gone': ['DELETE FROM log WHERE rev = 2', 'revision 2 is missing'],
    'the last log row': ['DELETE FROM log WHERE rev = (SELECT max(rev) FROM log)', 'it is missing'],
    'a result': ['UPDATE effects SET result = \'"ch_8"\'', 'is not the one that the log records'],
    'a result that is gone': ['DELETE FROM effects', 'that the ledger does not have'],
    'a result that nobody asked for': [
      "INSERT INTO effects SELECT job, 'refund', 1, 1, '1' FROM effects",
      'refund#1, entry 1, which no event intended',
    ],
    'the row': ["UPDATE jobs SET status = 'cancelled'", 'status differs'],
    'the row that is gone': ['DELETE FROM jobs', 'its row is gone; revisions 1 to 5'],
    'what only lists show': ['UPDATE jobs SET priority = 9', 'priority differs'],
    'all log rows': ['DELETE FROM log', 'it has no log'],
    'a row that cannot be read': ["UPDATE jobs SET state = '{'", 'it cannot be read'],
    'the first log row': ["UPDATE log SET body = '{}' WHERE rev = 1", 'it cannot be read'],
  };

  test.each(Object.entries(TAMPERS))('GUA-14 %s', async (name, [sql, says]) => {
    const path = join(folder, `${name}.db`);
    const clock = fakeClock(T0);
    const store = await sqliteStore({ path, clock });
    onTestFinished(() => store.close());
    const rig = await testApp({ tasks: [order], store: { ...store, close: async () => undefined }, clock });
    onTestFinished(() => rig.stop());
    const { job } = await rig.app.start(order, 7);
    await rig.ended(job);
    expect((await verifyStore(store)).holds).toBe(true);

    const db = await openDatabase(path);
    db.exec(sql);
    db.close();
    const { holds, jobs, brokenJobs, broken: told } = await verifyStore(store);
    expect({ holds, jobs, brokenJobs }).toEqual({ holds: false, jobs: 1, brokenJobs: 1 });
    expect(told[0]?.jobId).toBe(job.id);
    expect(told[0]?.problem).toContain(says);
  });
});

describe('GUA-14 a job with 100,000 events', () => {
  const COMMITS = 5_000;
  const EVENTS_EACH = 20;
  const jobId = aJobSpec().jobId;

  async function longJob(): Promise<Store> {
    const store = memoryStore({ clock: fakeClock(T0) });
    await store.commit([prepareCommit(null, { jobId, commandId: 'c1', events: created() })]);
    const { found } = await store.load(jobId);
    await store.commit([prepareCommit(found, { jobId, commandId: 'c2', events: [claimedBy('worker-a')] })]);
    let head = (await store.load(jobId)).found;
    for (let n = 3; n <= COMMITS + 2; n++) {
      const events = Array.from({ length: EVENTS_EACH }, (_, i) =>
        event('step.recorded', { step: `s${n}.${i}` }),
      );
      const item = prepareCommit(head, { jobId, commandId: `c${n}`, events });
      await store.commit([item]);
      head = head && { ...head, job: { ...head.job, rev: item.rev }, link: item.link };
    }
    return store;
  }

  test('GUA-14 is written and checked in pages, no more than one of which is held', async () => {
    const store = await longJob();
    let read = 0;
    let written = 0;
    let ahead = 0;
    const watched: Store = {
      ...store,
      async log(id, page) {
        const reply = await store.log(id, page);
        read += reply.rows.length;
        return reply;
      },
    };
    async function* lines(): AsyncGenerator<string> {
      for await (const line of new EvidenceExport(watched, [jobId])) {
        if (line.includes('"kind":"log"')) written += 1;
        ahead = Math.max(ahead, read - written);
        yield line;
      }
    }
    const verdict = await verifyEvidence(lines());
    expect(verdict).toMatchObject({ holds: true, jobs: 1, commits: COMMITS + 2 });
    expect(verdict.events).toBeGreaterThan(COMMITS * EVENTS_EACH);
    expect(ahead).toBeLessThan(1_000);
  });
});

test('GUA-14 a job that goes on while it is exported is told as it stood', async () => {
  const rig = await testApp({ tasks: [order, asks] });
  onTestFinished(() => rig.stop());
  const { job } = await rig.app.start(order, 7, { delay: '1m' });
  let first = true;
  const busy: Store = {
    ...rig.store,
    async log(id, page) {
      if (first) await rig.ended(job);
      first = false;
      return rig.store.log(id, page);
    },
  };
  const verdict = await verifyEvidence(new EvidenceExport(busy, [job.id]));
  expect(verdict).toMatchObject({ holds: true, jobs: 1, commits: 1 });
  expect(await verifyEvidence(new EvidenceExport(rig.store, [job.id]))).toMatchObject({ holds: true });
});
