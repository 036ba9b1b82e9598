import type { Status } from '../kernel/index.js';
import type { AgedJob, Purge } from '../ports/store.js';
import { withoutContinued } from './continuing.js';
import { toMs, type Duration } from './duration.js';
import type { Engine } from './engine.js';
import { writeEvidence, type EvidenceSink } from './evidence/evidence-sink.js';
import { noteAttempts } from './run-attempts.js';
import { forgetFindings } from './runs/run-finding.js';

/**
 * How long finished jobs are kept. Those with an open dead letter stay until somebody has dealt with it, and those whose record another
 * goes on with for as long as that one does.
 */
export type Retention = {
  readonly keep: Duration;
  /** Exceptions, by task and by how the job ended. The first that fits counts. */
  readonly rules?: readonly { readonly task?: string; readonly status?: Status; readonly keep: Duration }[];
  /** How long keys outlive their job, so that a late repetition of a start is still recognised. */
  readonly keepKeys?: Duration;
  /** Where each job's evidence goes before the job is deleted. A job whose evidence could not be written stays. */
  readonly evidence?: EvidenceSink;
};

const PAGE = 200;
/** How often finished jobs are looked through; more often where they are kept for less than that. */
const SWEEP_MS = 600_000;
const KEEP_KEYS: Duration = '30d';

/**
 * Kept for so long at least, whatever is asked for: a start that was sent twice, the second time on its way for longer than
 * the job lived, must find it.
 */
const LEAST_KEPT_MS = 60_000;
const keptMs = (keep: Duration, what: string): number => Math.max(LEAST_KEPT_MS, toMs(keep, what));

/** Rules do not count: a sweep walks through all that is kept, which one of them does not make short. */
export function sweepEveryMs({ keep }: Retention): number {
  return Math.min(SWEEP_MS, keptMs(keep, 'retention.keep'));
}

/** Deletes what is old, a page in each round, so that no lock is held for long. True if there is more to look at. */
export function retentionSweep(engine: Engine, retention: Retention): () => Promise<boolean> {
  const { evidence = null } = retention;
  const keepMs = keptMs(retention.keep, 'retention.keep');
  const identityTtlMs = toMs(retention.keepKeys ?? KEEP_KEYS, 'retention.keepKeys');
  const rules = (retention.rules ?? []).map(({ task = null, status = null, keep }) => ({
    task,
    status,
    keepMs: keptMs(keep, 'retention.rules.keep'),
  }));
  let after: string | null = null;
  return async () => {
    const now = engine.now();
    const { jobs: aged, next } = await engine.store.aged({
      finishedBefore: now - keepMs,
      rules: rules.map(({ keepMs: ruleMs, ...rule }) => ({ ...rule, finishedBefore: now - ruleMs })),
      limit: PAGE,
      after,
    });
    const gone = await noteAttempts(engine, await withoutContinued(engine, aged));
    const written = evidence === null ? unguarded(gone) : await writeEvidence(engine, evidence, gone);
    // Somebody may have gone on with one while its evidence was written; or does so now, which the store sees.
    const free = new Map((await withoutContinued(engine, gone)).map(({ jobId, place }) => [jobId, place]));
    const jobs = written.flatMap((one) => {
      const place = free.get(one.jobId);
      return place === undefined ? [] : [{ ...one, place }];
    });
    // The last round of a sweep always comes here: keys expire even where no job does.
    if (jobs.length > 0 || next === null) await engine.store.purge({ jobs, identityTtlMs });
    if (next === null) await forgetFindings(engine);
    after = next;
    return next !== null;
  };
}

/** A job that has ended does not change; and nobody wants what may still have come to it. */
function unguarded(jobs: readonly AgedJob[]): Purge['jobs'] {
  return jobs.map(({ jobId }) => ({ jobId, guard: null }));
}
