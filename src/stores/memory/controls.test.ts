import { expect, onTestFinished, test } from 'vitest';
import { command, Rig } from '../../testkit/index.js';
import { memoryStore } from './memory-store.js';
import { Tables } from './tables.js';

test('jobs are purged from a feed of any length, and the rest of it keeps its order', async () => {
  const tables = new Tables();
  const rig = await Rig.start(async ({ clock }) => memoryStore({ clock, tables }));
  onTestFinished(() => rig.stop());
  const { attemptId } = await rig.running('job_old_1');
  await rig.give('job_old_1', command('complete', { attemptId: attemptId ?? '' }));
  const others = Array.from({ length: 200_000 }, (_, index) => ({
    jobId: `job_${index}`,
    rev: 1,
    commandId: 'c',
    body: '[]',
    link: '',
    position: ++tables.lastPosition,
  }));
  for (const row of others) tables.feed.push(row);

  const { jobs } = await rig.store.purge({ jobs: [{ jobId: 'job_old_1', guard: null }], identityTtlMs: 0 });
  expect(jobs).toBe(1);
  expect(tables.feed.length).toBe(others.length);
  expect(tables.feed.every((row, index) => row === others[index])).toBe(true);
});
