import type { Status } from '../kernel/index.js';
import { toMs, type Duration } from './duration.js';
import type { Engine } from './engine.js';

/** How long finished jobs are kept. Those with an open dead letter stay until somebody has dealt with it. */
export type Retention = {
  readonly keep: Duration;
  /** Exceptions, by task and by how the job ended. The first that fits counts. */
  readonly rules?: readonly { readonly task?: string; readonly status?: Status; readonly keep: Duration }[];
  /** How long keys outlive their job, so that a late repetition of a start is still recognised. */
  readonly keepKeys?: Duration;
};

const PAGE = 200;
const KEEP_KEYS: Duration = '30d';

/** Deletes what is old, a page in each round, so that no lock is held for long. True if there is more to look at. */
export function retentionSweep(engine: Engine, retention: Retention): () => Promise<boolean> {
  const keepMs = toMs(retention.keep, 'retention.keep');
  const identityTtlMs = toMs(retention.keepKeys ?? KEEP_KEYS, 'retention.keepKeys');
  const rules = (retention.rules ?? []).map(({ task = null, status = null, keep }) => ({
    task,
    status,
    keepMs: toMs(keep, 'retention.rules.keep'),
  }));
  let after: string | null = null;
  return async () => {
    const now = engine.now();
    const page = await engine.store.purge({
      finishedBefore: now - keepMs,
      rules: rules.map(({ keepMs: ruleMs, ...rule }) => ({ ...rule, finishedBefore: now - ruleMs })),
      identityTtlMs,
      limit: PAGE,
      after,
    });
    after = page.next;
    return page.next !== null;
  };
}
