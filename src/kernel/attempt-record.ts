import type { Change } from './history.js';
import { attemptKeyOf, attemptOf } from './job.js';
import type { Timestamp } from './payload.js';

/** One attempt of a job, over all the claims it took. */
export type AttemptRecord = {
  readonly attempt: number;
  /** `{jobId}:{retryCount}`, the same for every claim of the attempt. */
  readonly idempotencyKey: string;
  /** One for each claim: the first start, and every return from a crash or a wait. */
  readonly attemptIds: readonly string[];
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp | null;
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  readonly errorCode: string | null;
};

/** The attempts of a job. One that was scheduled but never claimed has no record. */
export function attemptRecordsOf(changes: readonly Change[]): AttemptRecord[] {
  const records: AttemptRecord[] = [];
  const amend = (change: Partial<AttemptRecord>) => {
    const latest = records.pop();
    if (latest) records.push({ ...latest, ...change });
  };
  for (const { before, event, after } of changes) {
    switch (event.type) {
      case 'attempt.started': {
        const latest = records.at(-1);
        if (latest && latest.attempt === attemptOf(after)) {
          amend({ attemptIds: [...latest.attemptIds, event.attemptId] });
        } else {
          records.push({
            attempt: attemptOf(after),
            idempotencyKey: attemptKeyOf(after),
            attemptIds: [event.attemptId],
            startedAt: event.at,
            endedAt: null,
            outcome: null,
            errorCode: null,
          });
        }
        break;
      }
      case 'attempt.failed':
        amend({ endedAt: event.at, outcome: 'failed', errorCode: event.failure.code });
        break;
      case 'dlq.entered':
        if (event.from !== 'retrying')
          amend({ endedAt: event.at, outcome: 'failed', errorCode: event.failure.code });
        break;
      case 'job.succeeded':
        amend({ endedAt: event.at, outcome: 'succeeded' });
        break;
      case 'job.cancelled':
        if (before?.status !== 'retrying') amend({ endedAt: event.at, outcome: 'cancelled' });
        break;
      default:
        break;
    }
  }
  return records;
}
