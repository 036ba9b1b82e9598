import { prepareCommit } from '../../src/engine/prepare-commit.js';
import { decide, NO_STEPS, type JobSpec } from '../../src/kernel/index.js';
import type { CommitItem, CommitReply, Identity, Store } from '../../src/ports/store.js';
import { aJobSpec, command } from '../../src/testkit/index.js';

export const keyOf = (value: string): Identity => ({ tenantId: 'acme', kind: 'key', value });

/** The commit that a start of this key comes to, as long as nobody else has the key. */
export function keyedStart(jobId: string, key: string, spec: Partial<JobSpec> = {}): CommitItem {
  const wanted = aJobSpec({ ...spec, jobId, idempotencyKey: key });
  const decision = decide(null, command('create', { spec: wanted }), NO_STEPS);
  if (!decision.ok) throw new Error(decision.code);
  return prepareCommit(
    null,
    { jobId, commandId: `start ${jobId} ${key}`, events: decision.events },
    { identities: [keyOf(key)] },
  );
}

export async function send(store: Store, item: CommitItem): Promise<CommitReply> {
  const [reply] = (await store.commit([item])).replies;
  if (!reply) throw new Error('no reply');
  return reply;
}

/** Which job a start leads to: its own, or that of whoever had the key before. */
export async function startedJob(store: Store, item: CommitItem): Promise<string> {
  const reply = await send(store, item);
  if (reply.ok) return item.jobId;
  if (reply.code !== 'IDENTITY_TAKEN') throw new Error(reply.code);
  return reply.owners[0] ?? 'nobody';
}
