import type { Engine } from '../../engine/engine.js';
import { rejectionError } from '../../engine/rejection-error.js';
import { decide, holderLane, NO_STEPS } from '../../kernel/index.js';
import type { NewMessage } from '../../ports/store.js';
import type { Caller } from '../route.js';
import { expectPayload } from './worker-commands.js';

export type Put = { readonly outcome: 'kept' | 'repeated' | 'no job' };

/** Keeps a signal for a job of the caller's tenant, under a key that signals may have. */
export async function putMessageFor(
  { store, now }: Pick<Engine, 'store' | 'now'>,
  { jobId, key, payload }: NewMessage,
  { tenantId }: Caller,
): Promise<Put> {
  expectPayload(payload, 'the payload of a signal');
  const { found } = await store.load(jobId);
  if (found === null || found.job.spec.tenantId !== tenantId) return { outcome: 'no job' };
  const { job } = found;
  const signal = { type: 'signal', now: now(), actor: 'client', key, payload } as const;
  const decision = decide(job, { ...signal, received: await isThere(store, { jobId, key }) }, NO_STEPS);
  if (!decision.ok) throw rejectionError(decision, `signal job ${jobId}`);
  const { outcome } = await store.putMessage({ jobId, key, payload });
  if (job.status === 'running') store.wake([holderLane(job)]);
  return { outcome };
}

async function isThere(
  store: Engine['store'],
  { jobId, key }: { jobId: string; key: string },
): Promise<boolean> {
  const { messages } = await store.inbox(jobId);
  return messages.some((message) => message.key === key);
}
