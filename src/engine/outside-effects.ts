import { PawlError } from '../errors.js';
import { successorOf } from './continuing.js';
import type { Engine } from './engine.js';
import { readSteps } from './read-log.js';

type Stores = Pick<Engine, 'store'>;

/** So many are named. */
const MOST_NAMED = 5;

/**
 * Throws where a job, or one that it called, has effects that happened, or may have: a new job in its place knows nothing of
 * them, and enters each once more under another key.
 */
export async function expectNoneHappened(engine: Stores, jobId: string): Promise<void> {
  const effects: string[] = [];
  for await (const effect of happened(engine, jobId)) {
    effects.push(effect);
    if (effects.length === MOST_NAMED) break;
  }
  if (effects.length === 0) return;
  throw new PawlError('EFFECTS_HAPPENED', {
    detail: `a job in the place of ${jobId} would enter again what happened, or may have: ${effects.join(', ')}`,
    details: { jobId, effects },
  });
}

/** The same, as an answer. */
export async function haveHappened(engine: Stores, jobId: string): Promise<boolean> {
  for await (const _ of happened(engine, jobId)) return true;
  return false;
}

/**
 * By the keys of their steps, in the job, in those that it called, in those whose work it was to keep, and in those that took the place of
 * any of them. Of a job that was purged nobody can tell.
 */
async function* happened(
  engine: Stores,
  jobId: string,
  seen: Set<string> = new Set(),
): AsyncGenerator<string> {
  if (seen.has(jobId)) return;
  seen.add(jobId);
  const steps = await readSteps(engine.store, jobId);
  // Asked for afterwards: one that is purged while it is being read looks as if it had done nothing.
  const { found } = await engine.store.load(jobId);
  if (found === null) yield `job ${jobId}, which is gone`;
  const others: [jobId: string, path: string][] = [];
  for (const [key, step] of steps.entries()) {
    if (step.kind === 'effect' && step.state !== 'closed') yield key;
    if (step.kind === 'wait' && step.child !== null) others.push([step.child.childId, key]);
  }
  const before = found?.job.spec.continues?.jobId;
  if (before !== undefined) others.push([before, before]);
  const after = found && (await successorOf(engine, found.job.spec));
  if (after !== null) others.push([after, after]);
  for (const [other, path] of others)
    for await (const effect of happened(engine, other, seen)) yield `${path} > ${effect}`;
}
