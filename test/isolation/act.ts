import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { decide, laneOf, NO_STEPS, type WorkerRef } from '../../src/kernel/index.js';
import type {
  Beat,
  ClaimRequest,
  CommitItem,
  EffectResult,
  Identity,
  NewMessage,
  Purge,
  Store,
} from '../../src/ports/store.js';
import { aJobSpec, command } from '../../src/testkit/index.js';

/** The job that everything is about, and the jobs that rival starts of its key would create. */
export const JOB = 'job_isolated';
export const RIVALS = { one: 'job_rival_one', two: 'job_rival_two' } as const;
export const KEY: Identity = { tenantId: 'acme', kind: 'key', value: 'order_1001' };

/** What someone does to a store, fully decided and as plain data: it can be sent to another process. */
export type Act =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'commit'; readonly item: CommitItem }
  | { readonly kind: 'claim'; readonly worker: WorkerRef; readonly attemptId: string }
  | { readonly kind: 'beat'; readonly beat: Beat }
  | { readonly kind: 'sweep' }
  | { readonly kind: 'effect'; readonly result: EffectResult }
  | { readonly kind: 'message'; readonly message: NewMessage }
  | { readonly kind: 'purge'; readonly purge: Purge };

/** Does it, and answers with the store's reply. What the store throws is a reply too: no serial order throws. */
export async function perform(store: Store, act: Act): Promise<unknown> {
  try {
    return await send(store, act);
  } catch (error) {
    return { thrown: String(error) };
  }
}

async function send(store: Store, act: Act): Promise<unknown> {
  switch (act.kind) {
    case 'refused':
      return act.why;
    // Whether others were told already, and where the next claim goes on, are hints, and say nothing about the job.
    case 'commit': {
      const { now, replies } = await store.commit([act.item]);
      return { now, replies };
    }
    case 'claim': {
      const { now, alive, jobs } = await store.claim(claimBy(act));
      return { now, alive, jobs };
    }
    case 'beat':
      return store.beat(act.beat);
    case 'sweep':
      return store.orphans({ limit: 10 });
    case 'effect':
      return store.putEffect(act.result);
    case 'message':
      return store.putMessage(act.message);
    case 'purge':
      return store.purge(act.purge);
  }
}

function claimBy({ worker, attemptId }: { worker: WorkerRef; attemptId: string }): ClaimRequest {
  return {
    worker,
    lanes: [{ lane: laneOf(aJobSpec()), keyLimit: null }],
    limit: 1,
    afterTenant: '',
    decide: (found, now) => {
      const decision = decide(found.job, command('claim', { now, attemptId, worker }), NO_STEPS);
      if (!decision.ok) return null;
      const { jobId } = found.job.spec;
      return prepareCommit(found, { jobId, commandId: attemptId, events: decision.events });
    },
  };
}

/** All that anyone can see of the job, and of its rivals, when everything is over. */
export async function stateOf(store: Store): Promise<Readonly<Record<string, unknown>>> {
  const ids = [JOB, ...Object.values(RIVALS)];
  const jobs = await Promise.all(
    ids.map(async (id) => ({
      [`${id} loaded`]: (await store.load(id)).found,
      [`${id} log`]: (await store.log(id, { fromRev: 1, limit: 100 })).rows,
      [`${id} inbox`]: await store.inbox(id),
      [`${id} effects`]: (await store.effects(id)).results,
    })),
  );
  const { jobIds } = await store.resolve([KEY]);
  const { counts } = await store.counts({ tenantId: null });
  return Object.assign({ 'key belongs to': jobIds[0], counts }, ...jobs) as Record<string, unknown>;
}
