import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.js';
import { command, Rig } from '../../src/testkit/index.js';
import { cliOn } from './in-process.js';

const FINDING = ['--outcome', 'success', '--reason', 'the release is live', '--by', 'ann'];

test('RST-15 a run of the engine’s own is reconciled like one that is tracked, and only if it is interrupted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-reconcile-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'pawl.db');
  const rig = await Rig.start(({ clock }) => sqliteStore({ path, clock }));
  const { attemptId } = await rig.running('run_aborted', { recovery: 'abort' });
  await rig.give('run_aborted', command('interrupt', { attemptId: attemptId ?? '' }));
  await rig.create('run_queued');
  const { job } = await rig.load('run_aborted');
  await rig.stop();

  const pawl = cliOn(`sqlite:${path}`);
  const before = await pawl.json('runs', 'show', 'run_aborted');
  expect(before).toMatchObject({ status: 'interrupted', version: job.rev, reconciliation: null });
  const { code, out } = await pawl('runs', 'reconcile', 'run_aborted', ...FINDING);
  expect([code, out]).toEqual([0, expect.stringMatching(/^reconciled +success by ann at .*: the release/m)]);
  const run = await pawl.json<{ reconciliation: { at: string } }>('runs', 'show', 'run_aborted');
  const { at } = run.reconciliation;
  expect(run).toEqual({
    ...before,
    version: job.rev + 1,
    updated_at: at,
    reconciliation: { outcome: 'success', reason: 'the release is live', actor: 'ann', at },
  });
  // Its dead letter is another matter.
  const dlqId = job.deadLetter?.dlqId ?? '';
  expect((await pawl('dlq', 'discard', dlqId, '--reason', 'it is live', '--by', 'ann')).code).toBe(0);

  expect((await pawl('runs', 'reconcile', 'run_queued', ...FINDING)).err).toContain(
    'run run_queued is queued: only an interrupted run is reconciled',
  );
  expect((await pawl('runs', 'reconcile', 'run_nobody', ...FINDING)).err).toContain(
    'JOB_NOT_FOUND: there is no run run_nobody',
  );
});
