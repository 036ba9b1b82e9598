import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CommitItem, Store } from '../../ports/store.js';
import { command, Rig } from '../../testkit/index.js';
import { sqliteStore } from './sqlite-store.js';

/** A process that has claimed two jobs, and another one on the same file. */
async function ground() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-as-known-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rig = await Rig.start(({ clock }) => sqliteStore({ path: join(folder, 'main.db'), clock }));
  onTestFinished(() => rig.stop());
  for (const jobId of JOBS) await rig.create(jobId);
  await rig.claim('worker-a');
  const [own, other] = [rig.store, await rig.connect()];
  /** What the other process does meanwhile. */
  const elsewhere = async (act: () => Promise<unknown>): Promise<void> => {
    rig.store = other;
    await act();
    rig.store = own;
  };
  const records = () => Promise.all(JOBS.map((jobId) => record(rig, jobId)));
  return { rig, own, other, elsewhere, records };
}

const JOBS = ['job_held_1', 'job_held_2'] as const;
const [FIRST, SECOND] = JOBS;

async function heldBy(rig: Rig, jobId: string): Promise<string> {
  return (await rig.load(jobId)).job.attemptId ?? '';
}

async function record(rig: Rig, jobId: string): Promise<CommitItem> {
  const attemptId = await heldBy(rig, jobId);
  return rig.prepare(jobId, command('record-step', { attemptId }), { attemptId });
}

async function save(store: Store, items: readonly CommitItem[]) {
  return (await store.commit(items)).replies.map((reply) => (reply.ok ? 'saved' : reply.code));
}

const revisions = async (rig: Rig, jobId: string) => (await rig.commits(jobId)).map(({ rev }) => rev);

test('records of jobs that nobody else has touched are saved together, and again when another process has written', async () => {
  const { rig, own, elsewhere, records } = await ground();
  expect(await save(own, await records())).toEqual(['saved', 'saved']);
  await elsewhere(() => rig.create('job_besides'));
  const complete = async (jobId: string) => {
    const attemptId = await heldBy(rig, jobId);
    return rig.prepare(jobId, command('complete', { attemptId }), { attemptId });
  };
  expect(await save(own, await Promise.all(JOBS.map(complete)))).toEqual(['saved', 'saved']);
  for (const jobId of JOBS) expect(await revisions(rig, jobId)).toEqual([1, 2, 3, 4]);
});

test('GUA-2 what a process knows of a job counts for nothing once another has ended the attempt', async () => {
  const { rig, own, elsewhere, records } = await ground();
  const late = await records();
  const attemptId = await heldBy(rig, FIRST);
  await elsewhere(() => rig.give(FIRST, command('interrupt', { attemptId })));
  expect(await save(own, late)).toEqual(['REV_TAKEN', 'saved']);
  expect(await revisions(rig, FIRST)).toEqual([1, 2, 3]);
});

test('GUA-2 a late record does not get into the log of a job that has taken the row of a purged one', async () => {
  const { rig, own, elsewhere, records } = await ground();
  const late = (await records()).toReversed();
  const attemptId = await heldBy(rig, SECOND);
  await elsewhere(async () => {
    await rig.give(SECOND, command('complete', { attemptId }), { attemptId });
    await rig.store.purge({ jobs: [{ jobId: SECOND, guard: null }], identityTtlMs: 0 });
    await rig.create('job_next_1');
  });
  expect(await save(own, late)).toEqual(['REV_TAKEN', 'saved']);
  expect(await revisions(rig, 'job_next_1')).toEqual([1]);
});
