import { expect, test } from 'vitest';
import { Engine } from '../engine/engine.js';
import { must } from '../kernel/index.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { fakeClock, given, PASTS, prng, T0 } from '../testkit/index.js';
import { claimDecision } from './claim-decision.js';

const courier = { check: async () => undefined, deliver: async () => ({ ok: true }) as never };

/** What is decided on some jobs for a worker of this name, and what is said about it. */
function deciding(id: string) {
  const said: unknown[][] = [];
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: (...words: unknown[]) => said.push(words) };
  const clock = fakeClock(T0);
  const engine = new Engine({ store: memoryStore({ clock }), clock, random: prng(1), log, courier });
  const worker = { id, incarnation: `${id}.1` };
  const { decide } = claimDecision(engine, { worker, hasSuspect: false, nextAttemptId: () => `${id}.1/1` });
  const of = (past: keyof typeof PASTS) => {
    const job = must(given(PASTS[past]).job, 'there is one');
    return decide({ job, link: '', inboxRev: 0 }, T0 + 60_000) !== null;
  };
  return { of, said };
}

test('a claim that no job would ever take is told of, once for each round', () => {
  const { of, said } = deciding('');
  expect([of('queued'), of('queued')]).toEqual([false, false]);
  expect(said).toMatchObject([['a claim was refused', { worker: '', code: 'INVALID_COMMAND' }]]);
});

test('a job that is not to be claimed is nothing to tell of', () => {
  const { of, said } = deciding('worker-z');
  expect([of('queued'), of('running'), of('succeeded')]).toEqual([true, false, false]);
  expect(said).toEqual([]);
});
