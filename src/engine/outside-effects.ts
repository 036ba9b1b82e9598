import { PawlError } from '../errors.js';
import type { Engine } from './engine.js';
import { readSteps } from './read-log.js';

/** So many are named. */
const MOST_NAMED = 5;

/**
 * Throws where a job, or one that it called, has effects that happened, or may have: a new job in its place knows nothing of
 * them, and enters each once more under another key.
 */
export async function expectNoneHappened(engine: Engine, jobId: string): Promise<void> {
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

/** By the keys of their steps. */
async function* happened(engine: Engine, jobId: string): AsyncGenerator<string> {
  for (const [key, step] of (await readSteps(engine.store, jobId)).entries()) {
    if (step.kind === 'effect' && step.state !== 'closed') yield key;
    if (step.kind !== 'wait' || step.child === null) continue;
    const { childId } = step.child;
    // Of one that was purged nobody can tell.
    if ((await engine.store.load(childId)).found === null) yield `${key} (job ${childId}, which is gone)`;
    else for await (const effect of happened(engine, childId)) yield `${key} > ${effect}`;
  }
}
