import { decide, NO_STEPS, type Command, type Job, type Rejected, type StepIndex } from '../kernel/index.js';
import type { Loaded } from '../ports/store.js';
import { consequencesOf } from './consequences.js';
import type { Engine } from './engine.js';
import { prepareCommit, type Extras } from './prepare-commit.js';
import { readSteps } from './read-log.js';
import { hearSubscribers, callersPatience, sendOne } from './send.js';

/** What to ask of a job as it stands; null: nothing any more. What else it goes by it must read anew each time. */
export type Order = (found: Loaded) => Asked | null | Promise<Asked | null>;
export type Asked = {
  readonly command: Command;
  /** Commands about steps and effects are decided on the whole log. */
  readonly needsSteps?: boolean;
  readonly extras?: Extras;
};

/** `changed` is false where there was nothing to record. */
export type Given = { readonly ok: true; readonly job: Job; readonly changed: boolean } | Rejected;

/**
 * Gives a command to a job: load, decide, commit, announce. Whatever came between is looked at anew. Workers have their
 * own way (`Attempt`), since they must never work from a newer state than the one they hold. `known`: the job as it was
 * read a moment ago; if that is out of date, the store says so, and it is read again.
 */
export async function give(
  engine: Engine,
  jobId: string,
  order: Order,
  { known = null }: { known?: Loaded | null } = {},
): Promise<Given> {
  const { store } = engine;
  const patience = callersPatience(engine);
  // What is done outside because of it is decided with it.
  if (engine.subscriptions.isStale) await hearSubscribers(engine, patience);
  for (let first = known; ; first = null) {
    const found = first ?? (await store.load(jobId)).found;
    if (found === null) return { ok: false, code: 'JOB_NOT_FOUND', details: { jobId } };
    const asked = await order(found);
    if (asked === null) return { ok: true, job: found.job, changed: false };
    const steps: StepIndex = asked.needsSteps ? await readSteps(store, jobId) : NO_STEPS;
    const decision = decide(found.job, asked.command, steps);
    if (!decision.ok) return decision;
    const { events } = decision;
    if (events.length === 0) return { ok: true, job: found.job, changed: false };

    const extras = { ...asked.extras, ...(await consequencesOf(engine, found, events)) };
    const commands = [asked.command];
    const item = prepareCommit(found, { jobId, commandId: engine.nextCommandId(), events, commands }, extras);
    const reply = await sendOne(engine, item, patience);
    if (reply.ok) {
      const job = item.job ?? found.job;
      engine.meters.committed(job.spec.tenantId, events);
      engine.announceMail(item.outbox);
      engine.announce(job);
      return { ok: true, job, changed: true };
    }
  }
}
