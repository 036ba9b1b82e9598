import type { Engine } from '../../engine/engine.js';
import type { CommandOf, EntryFacts, Job, StepIndex } from '../../kernel/index.js';
import type { EntryRef } from '../../ports/store.js';
import { invalid } from './worker-commands.js';

type Asking = CommandOf<'begin-effect' | 'reconcile-effect'>;

/**
 * Holds what a worker says about the latest entry of an effect against what the store knows. Answers with that entry, whose
 * result must not be overlooked by the commit; null if there is none yet; `moved` if the worker has to look again.
 *
 * Only the holder's own process knows whether a body runs in it. Its word counts for entries of its own life, and wherever
 * it is the more careful one: it can keep an effect from being settled, never have it entered while another may run it.
 */
export async function checkFacts(
  { store }: Engine,
  { job, steps, command }: { job: Job; steps: StepIndex; command: Asking },
): Promise<EntryRef | null | 'moved'> {
  const known = steps.get(command);
  if (known?.kind !== 'effect') {
    if (command.storedResult !== null) throw invalid('storedResult', 'is stored nowhere');
    return null;
  }
  const { step, occurrence } = command;
  const { entry, worker } = known;
  const { results } = await store.effects(job.spec.jobId);
  const stored = results.find(
    (one) => one.step === step && one.occurrence === occurrence && one.entry === entry,
  );
  const facts: EntryFacts = {
    storedResult: stored?.result ?? null,
    bodyMayRun: stored === undefined && (await mayRun(store, { owner: worker.incarnation, job })),
  };
  if (command.storedResult !== null && command.storedResult !== facts.storedResult) {
    throw invalid('storedResult', 'is not what is stored');
  }
  if (command.storedResult !== facts.storedResult) return 'moved';
  if (facts.bodyMayRun && !command.bodyMayRun) return 'moved';
  return { step, occurrence, entry };
}

async function mayRun(store: Engine['store'], { owner, job }: { owner: string; job: Job }): Promise<boolean> {
  if (owner === job.worker?.incarnation) return false;
  const { workers, now } = await store.workers({ incarnations: [owner] });
  return workers.some(({ dead, leaseUntil }) => !dead && now < leaseUntil);
}
