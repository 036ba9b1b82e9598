import { ERASED_PREFIX, type Job } from '../../kernel/index.js';

/** Whether a dead-letter item is the one of this job, and says of it what the log says. */
export function checkDeadLetter(job: Job, item: object): string | null {
  const found = item as Readonly<Record<string, unknown>>;
  const { jobId, tenantId, task } = job.spec;
  const payload = job.input.startsWith(ERASED_PREFIX) ? found['payload'] : job.input;
  const expected = {
    dlqId: job.deadLetter?.dlqId ?? null,
    jobId,
    tenantId,
    task,
    errorClass: job.failure?.class,
    errorCode: job.failure?.code,
    payload,
  };
  const wrong = Object.entries(expected).find(([field, value]) => found[field] !== value);
  return wrong ? `its dead-letter item does not fit its log: ${wrong[0]} differs` : null;
}
