import { CONFLICT_FIELD } from '../contracts/index.js';
import type { NewJob } from '../engine/new-job.js';
import { startedOr, type Started, type StartOutcome } from '../engine/start-jobs.js';
import { PawlError } from '../errors.js';

/** The job that a start came to. What conflicts is called what the request calls it; `names` where that differs. */
export function started(
  outcome: StartOutcome | undefined,
  asked: NewJob,
  names: Partial<typeof CONFLICT_FIELD> = {},
): Started {
  if (outcome?.kind !== 'duplicate') return startedOr(outcome as StartOutcome, asked);
  const { jobId } = outcome.job.spec;
  const conflict_fields = outcome.conflictFields.map((field) => names[field] ?? CONFLICT_FIELD[field]);
  const reason = `the key '${asked.spec.idempotencyKey}' belongs to ${jobId}, which differs in ${conflict_fields.join(', ')}`;
  throw new PawlError('DUPLICATE', { detail: reason, details: { jobId, reason, conflict_fields } });
}
