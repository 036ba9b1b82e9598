import type { Engine } from '../../engine/engine.js';
import { rejectionError } from '../../engine/rejection-error.js';
import { judgeSignal, lookAt } from '../../engine/signal-job.js';
import { holderLane } from '../../kernel/index.js';
import type { NewMessage } from '../../ports/store.js';
import type { Caller } from '../route.js';
import { expectPayload } from './worker-commands.js';

export type Put = { readonly outcome: 'kept' | 'repeated' | 'no job' };

/** Keeps a signal for a job of the caller's tenant, under a key that signals may have. */
export async function putMessageFor(
  engine: Pick<Engine, 'store' | 'histories' | 'now'>,
  { jobId, key, payload }: NewMessage,
  { tenantId }: Caller,
): Promise<Put> {
  const { store } = engine;
  expectPayload(payload, 'the payload of a signal');
  const looked = await lookAt(engine, jobId);
  if (looked === null || looked.job.spec.tenantId !== tenantId) return { outcome: 'no job' };
  const { job } = looked;
  const verdict = await judgeSignal(engine, looked, { key, payload });
  if (!verdict.ok) throw rejectionError(verdict, `signal job ${jobId}`);
  if (verdict.is === 'repeated') return { outcome: 'repeated' };
  const { outcome } = await store.putMessage({ jobId, key, payload });
  if (job.status === 'running') store.wake([holderLane(job)]);
  return { outcome };
}
