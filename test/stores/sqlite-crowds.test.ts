import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PawlError } from '../../src/errors.js';
import type { CommitReply } from '../../src/ports/store.js';
import { CROWDS, type CrowdsOptions } from '../../src/stores/sqlite/crowds.js';
import { openDatabase } from '../../src/stores/sqlite/driver.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { Writer } from '../../src/stores/sqlite/writer.js';
import { command, Rig } from '../../src/testkit/index.js';
import { byAThread, withRealWaits } from '../by-a-thread.js';
import { storeFolder } from '../store-folder.js';

const SAVED: CommitReply = { ok: true, repeated: false };
const always = await byAThread();
const handedOver = vi.spyOn(Writer.prototype, 'save');

/** A store on a file, and how many times it has handed something over since. */
async function ground(crowds: CrowdsOptions = always) {
  const folder = storeFolder('pawl-crowds-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rig = await Rig.start(({ clock, name }) =>
    sqliteStore({ path: join(folder, `${name}.db`), clock: withRealWaits(clock), crowds }),
  );
  onTestFinished(() => rig.stop());
  const path = join(folder, 'main.db');
  const before = handedOver.mock.calls.length;
  const items = (name: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        rig.prepare(`job_crowd_${name}_${n}`, rig.createCommand(`job_crowd_${name}_${n}`)),
      ),
    );
  return {
    rig,
    folder,
    path,
    items,
    start: async (name: string, count: number) => (await rig.store.commit(await items(name, count))).replies,
    handedOver: () => handedOver.mock.calls.length - before,
    queued: async () => (await rig.store.counts({ tenantId: null })).counts['queued'] ?? 0,
  };
}

/** What is written into a thread's place: each order is carried out, or not, and then the thread is gone. */
async function threadThatEnds(folder: string, when: 'before' | 'after'): Promise<CrowdsOptions> {
  const script = join(folder, 'ending-thread.mjs');
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads';
     const tell = parentPort.postMessage.bind(parentPort);
     if (${when === 'before'}) parentPort.on('message', () => process.exit(1));
     parentPort.postMessage = (answer) => (answer === 'open' ? tell(answer) : process.exit(1));
     await import(${JSON.stringify(always.script.href)});`,
  );
  return { ...always, script: pathToFileURL(script) };
}

describe('new jobs on SQLite, many at a time', () => {
  test('are handed to a thread after some crowds, and not before; a few, and what comes alone, are saved at once', async () => {
    const {
      start,
      handedOver: orders,
      queued,
    } = await ground({
      ...always,
      after: 3,
      few: CROWDS.few,
    });
    for (let n = 0; n < 3; n++) await start(`early_${n}`, CROWDS.crowd);
    expect(orders()).toBe(0);
    await expect
      .poll(async () => {
        await start(`later_${Math.random()}`, CROWDS.crowd);
        return orders();
      })
      .toBeGreaterThan(0);
    const sofar = orders();
    expect(await start('few', CROWDS.few - 1)).toHaveLength(CROWDS.few - 1);
    expect(await start('one', 1)).toEqual([SAVED]);
    expect(orders()).toBe(sofar);
    expect((await queued()) % CROWDS.crowd).toBe(CROWDS.few);
  });

  test('JOB-1 are written as they would be here, and the next ones go behind them', async () => {
    const here = await ground(CROWDS);
    const there = await ground();
    const rowsOf = async ({ start, path }: typeof here): Promise<unknown[]> => {
      await start('a', 45);
      await start('b', 1);
      await start('c', 33);
      const db = await openDatabase(path);
      onTestFinished(() => db.close());
      const tables = ['SELECT * FROM jobs ORDER BY id', 'SELECT job, rev, body, link FROM log ORDER BY job'];
      return tables.map((sql) => db.prepare(sql).all());
    };
    const expected = await rowsOf(here);
    expect(here.handedOver()).toBe(0);
    expect(await rowsOf(there)).toEqual(expected);
    expect(there.handedOver()).toBe(3);
  });

  test('DEC-6 a key that two of them want, or that somebody has, is one job’s, and all others are saved', async () => {
    const { rig, handedOver: orders } = await ground();
    const keyed = (jobId: string, value: string) =>
      rig.prepare(jobId, rig.createCommand(jobId), {
        identities: [{ tenantId: 'acme', kind: 'key', value }],
      });
    const owner = await keyed('job_owner', 'taken');
    expect((await rig.store.commit([owner])).replies).toEqual([SAVED]);
    expect(orders()).toBe(1);
    const items = await Promise.all([
      keyed('job_keyed_1', 'mine'),
      keyed('job_keyed_2', 'wanted'),
      keyed('job_keyed_3', 'wanted'),
      keyed('job_keyed_4', 'taken'),
    ]);
    const late = await keyed('job_keyed_5', 'late');
    const rival = await rig.connect();
    const both = Promise.all([
      rig.store.commit(items.slice(0, 3)),
      rig.store.commit(items.slice(3)),
      rival.commit([{ ...late, jobId: 'job_keyed_5', commandId: 'rival' }]),
    ]);
    const [first, second, third] = (await both).map(({ replies }) => replies);
    expect(first).toEqual([SAVED, SAVED, { ok: false, code: 'IDENTITY_TAKEN', owners: ['job_keyed_2'] }]);
    expect(second).toEqual([{ ok: false, code: 'IDENTITY_TAKEN', owners: ['job_owner'] }]);
    expect(third).toEqual([SAVED]);
    // Sent again, each has its first answer.
    expect((await rig.store.commit([owner])).replies).toEqual([{ ok: true, repeated: true }]);
    expect((await rig.load('job_keyed_2')).job.status).toBe('queued');
  });

  test('GUA-11 wait for another process without holding up the event loop, and nothing overtakes them', async () => {
    const { rig, start, path, items } = await ground();
    await start('warm', 1);
    const cancel = await rig.prepare('job_crowd_warm_0', command('cancel'));
    const last = await items('last', 1);
    const other = await openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const crowd = start('crowd', 40);
    await turns(50);
    const cancelling = rig.store.commit([cancel]);
    await turns(2);
    const all = Promise.all([crowd, cancelling, rig.store.commit(last)]);
    await turns(2);
    other.exec('ROLLBACK');
    expect((await all)[0]).toHaveLength(40);
    const log = other.prepare(
      'SELECT job_id, log.rev FROM log JOIN jobs ON jobs.id = log.job ORDER BY position',
    );
    expect(log.all().map(({ job_id, rev }) => `${job_id} ${rev}`)).toEqual([
      'job_crowd_warm_0 1',
      ...Array.from({ length: 40 }, (_, n) => `job_crowd_crowd_${n} 1`),
      'job_crowd_warm_0 2',
      'job_crowd_last_0 1',
    ]);
    other.close();
  });

  test('GUA-10 the event loop has its turn between the answers, however soon they come', async () => {
    const folder = storeFolder('pawl-thread-');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = join(folder, 'quick-thread.mjs');
    writeFileSync(
      script,
      `import { parentPort } from 'node:worker_threads';
       parentPort.postMessage('open');
       parentPort.on('message', (order) =>
         order === 'close' ? parentPort.close() : parentPort.postMessage({ id: order.id, outcome: { last: 0 } }));`,
    );
    const { rig, items, handedOver: orders } = await ground({ ...always, script: pathToFileURL(script) });
    const crowds = async (name: string) =>
      Promise.all(Array.from({ length: 8 }, (_, n) => items(`${name}_${n}`, 32)));
    let turns = 0;
    let isGoing = true;
    const count = (): void => {
      turns += 1;
      if (isGoing) setImmediate(count);
    };
    setImmediate(count);
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    for (let round = 0; round < 6; round++) {
      const lists = await Promise.all([crowds(`mine_${round}`), crowds(`yours_${round}`)]);
      const [before, handed] = [turns, orders()];
      await Promise.all(
        lists.map(async (list, place) => {
          // One after the other, so that each is answered by itself.
          if (place > 0) await new Promise<void>((resolve) => process.nextTick(resolve));
          for (const crowd of list) {
            await rig.store.commit(crowd);
            // Until the other one's answer has come as well.
            Atomics.wait(nothing, 0, 0, 4);
          }
        }),
      );
      // Two at most are answered within one turn.
      expect(turns - before).toBeGreaterThanOrEqual((orders() - handed) / 2);
    }
    isGoing = false;
    expect(orders()).toBeGreaterThan(60);
  });

  test.each(['before', 'after'] as const)(
    'GUA-11 a thread that ends %s it has written leaves nothing undone, and nothing done twice',
    async (when) => {
      const folder = storeFolder('pawl-thread-');
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const { start, queued, handedOver: orders } = await ground(await threadThatEnds(folder, when));
      const replies = await Promise.all([start('a', 40), start('b', 40)]);
      const repeated = { ok: true, repeated: when === 'after' };
      expect(replies[0]).toEqual(Array.from({ length: 40 }, () => repeated));
      expect(replies.flat().every(({ ok }) => ok)).toBe(true);
      expect(await queued()).toBe(80);
      const sofar = orders();
      expect(sofar).toBeGreaterThan(0);
      // Nobody is asked any more who is not there.
      expect(await start('c', 40)).toHaveLength(40);
      expect(orders()).toBe(sofar);
      expect(await queued()).toBe(120);
    },
  );

  test('fail as they would here: what SQLite says is told, and nothing is half-written', async () => {
    const said = async (crowds: CrowdsOptions): Promise<PawlError> => {
      const { start, path, queued } = await ground(crowds);
      const db = await openDatabase(path);
      db.exec(
        `CREATE TRIGGER no BEFORE INSERT ON log WHEN new.job > 20 BEGIN SELECT RAISE(FAIL, 'not that many'); END`,
      );
      db.close();
      const error = await start('a', 40).then(
        () => new Error('they were saved'),
        (reason: unknown) => reason,
      );
      expect(await queued()).toBe(0);
      expect(await start('b', 20)).toHaveLength(20);
      return error as PawlError;
    };
    const here = await said(CROWDS);
    expect(here).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('not that many') as string,
    });
    expect(await said(always)).toMatchObject({ code: here.code, message: here.message });
  });

  test('are saved here where there is no file for a thread, or none that runs', async () => {
    const folder = storeFolder('pawl-thread-');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const broken = join(folder, 'broken.mjs');
    writeFileSync(broken, 'throw new Error("no");');
    for (const script of [join(folder, 'missing.mjs'), broken]) {
      const { start, handedOver: orders } = await ground({ ...always, script: pathToFileURL(script) });
      expect(await start('a', 40)).toEqual(Array.from({ length: 40 }, () => SAVED));
      expect(orders()).toBe(0);
    }
  });

  test('are all written when the store has been closed', async () => {
    const { rig, items, path, handedOver: orders } = await ground();
    const [handed, asked] = [await items('a', 200), await items('b', 200)];
    const saving = [rig.store.commit(handed)];
    await new Promise((resolve) => setImmediate(resolve));
    expect(orders()).toBe(1);
    saving.push(rig.store.commit(asked));
    await rig.disconnect(rig.store);
    expect((await Promise.all(saving)).map(({ replies }) => replies.length)).toEqual([200, 200]);
    const db = await openDatabase(path);
    expect(db.prepare('SELECT count(*) AS n FROM jobs').get()).toMatchObject({ n: 400 });
    db.close();
  });
});
