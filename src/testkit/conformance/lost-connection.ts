import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { PawlError } from '../../errors.js';
import { command } from '../sample-commands.js';
import type { Topic } from './rig.js';

/** Connections break, in the middle of a call too. For stores that have any: their opener says how to cut them. */
export const lostConnection: Topic = {
  name: 'lost connection',
  cases: {
    'the store connects again by itself, and holds what it held': async (rig) => {
      await rig.create('job_cut_0');
      for (let times = 0; times < 3; times++) {
        await rig.cut();
        equal((await untilAnswered(() => rig.store.load('job_cut_0'))).found?.job.rev, 1);
      }
    },
    'commits that were under way are there whole or not at all, and sent again they get one answer': async (
      rig,
    ) => {
      const jobIds = names('job_cut_commit', 24);
      const items = [];
      for (const jobId of jobIds) {
        const attemptId = (await rig.running(jobId)).attemptId ?? '';
        items.push(await rig.prepare(jobId, command('record-step', { attemptId }), { attemptId }));
      }
      const first = items.map((item) => unlessLost(() => rig.store.commit([item])));
      await rig.cut();
      await Promise.all(first);
      const again = await Promise.all(items.map((item) => untilAnswered(() => rig.store.commit([item]))));
      ok(again.every(({ replies }) => replies[0]?.ok));
      for (const jobId of jobIds) equal((await rig.commits(jobId)).length, 3);
    },
    'a claim that was under way leaves no job with nobody, and none with two': async (rig) => {
      const jobIds = names('job_cut_claim', 24);
      for (const jobId of jobIds) await rig.create(jobId);
      const first = unlessLost(() => rig.claim('worker-a', { limit: jobIds.length }));
      await rig.cut();
      await first;
      const holder = { worker: rig.worker('worker-a'), leaseMs: 30_000, lanes: [] };
      const { held } = await untilAnswered(() => rig.store.beat(holder));
      const { jobs } = await untilAnswered(() => rig.claim('worker-b', { limit: jobIds.length }));
      const taken = [...held.map(({ jobId }) => jobId), ...jobs.map(({ spec }) => spec.jobId)];
      deepStrictEqual(taken.toSorted(), jobIds);
    },
  },
};

const names = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${name}_${String(n).padStart(2, '0')}`);

/** A store that is there again answers within this many calls. */
const MOST_TRIES = 1_000;

async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!isLost(error) || tries === MOST_TRIES) throw error;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}

async function unlessLost(ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (!isLost(error)) throw error;
  }
}

/** What is said of a call of which nobody knows what became. */
const isLost = (error: unknown): boolean => error instanceof PawlError && error.retryable;
