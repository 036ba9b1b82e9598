import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { cliOn } from './in-process.js';

const FINDING = ['--outcome', 'success', '--reason', 'the release is live', '--by', 'ann'];

test('RST-15 a run of the engine’s own is not reconciled, and the error says why and what to do instead', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-reconcile-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'pawl.db');
  const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
  const { attemptId } = await rig.running('run_aborted', { recovery: 'abort' });
  await rig.give('run_aborted', command('interrupt', { attemptId: attemptId ?? '' }));
  await rig.create('run_queued');
  const dlqId = (await rig.load('run_aborted')).job.deadLetter?.dlqId ?? '';
  await rig.stop();

  const pawl = cliOn(`sqlite:${path}`);
  expect(await pawl.json('runs', 'show', 'run_aborted')).toMatchObject({ status: 'interrupted' });
  const { code, err } = await pawl('runs', 'reconcile', 'run_aborted', ...FINDING);
  expect(code).toBe(3);
  expect(err).toContain("INVALID_TRANSITION: run run_aborted is interrupted, but it is the engine's own");
  expect(err).toContain(`pawl dlq discard ${dlqId}`);
  expect((await pawl('dlq', 'discard', dlqId, '--reason', 'the release is live', '--by', 'ann')).code).toBe(
    0,
  );

  expect((await pawl('runs', 'reconcile', 'run_queued', ...FINDING)).err).toContain(
    'run run_queued is queued: only an interrupted run is reconciled',
  );
  expect((await pawl('runs', 'reconcile', 'run_nobody', ...FINDING)).err).toContain(
    'JOB_NOT_FOUND: there is no run run_nobody',
  );
});
