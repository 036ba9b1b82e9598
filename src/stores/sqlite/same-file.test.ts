import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Rig } from '../../testkit/index.js';
import { sqliteStore } from './sqlite-store.js';

const LOST = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('deleted or replaced') as string };

async function ground() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-same-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'main.db');
  const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
  onTestFinished(() => rig.stop());
  return { rig, path };
}

const start = async (rig: Rig, jobId: string) =>
  rig.store.commit([await rig.prepare(jobId, rig.createCommand(jobId))]);

describe('a file that is taken away under a process', () => {
  const ways: Readonly<Record<string, (path: string) => void>> = {
    deleted: (path) => ['', '-wal', '-shm'].forEach((end) => rmSync(`${path}${end}`)),
    replaced(path) {
      copyFileSync(path, `${path}.new`);
      renameSync(`${path}.new`, path);
    },
  };
  for (const [how, take] of Object.entries(ways)) {
    test(`GUA-11 ${how}: a second later nothing is acknowledged any more`, async () => {
      const { rig, path } = await ground();
      await start(rig, 'job_before');
      take(path);
      rig.clock.advance(1_000);
      await expect(start(rig, 'job_after_1')).rejects.toMatchObject(LOST);
      await expect(start(rig, 'job_after_2')).rejects.toMatchObject(LOST);
      const worker = { id: 'w', incarnation: 'w/1' };
      await expect(rig.store.beat({ worker, leaseMs: 30_000, lanes: [] })).rejects.toMatchObject(LOST);
    });
  }

  test('one that is still there is written to, however often it is looked for', async () => {
    const { rig } = await ground();
    for (const jobId of ['job_first', 'job_second', 'job_third']) {
      rig.clock.advance(1_000);
      expect((await start(rig, jobId)).replies).toEqual([{ ok: true, repeated: false }]);
    }
  });

  test('a database that is in no file is left alone', async () => {
    const rig = await Rig.start(({ clock }) => sqliteStore({ path: ':memory:', clock }));
    rig.clock.advance(1_000);
    expect((await start(rig, 'job_first')).replies).toEqual([{ ok: true, repeated: false }]);
    await rig.stop();
  });
});
