import { z } from 'zod';
import { jobs, JOB_STATUSES } from '../../contracts/index.js';
import { internalRun, type InternalOutcome } from '../../engine/internal-run.js';
import { PawlError } from '../../errors.js';
import { flag, jobId } from '../fields.js';
import { ok, route } from '../route.js';

export const internalRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/internal/jobs/:job_id/run',
    access: 'admin',
    summary:
      'Walk a job to success without its handler; to the dead-letter queue with `force_fail`, one transient failure further with `transient_fail`. Takes the header `x-internal-debug: true`.',
    params: z.strictObject({ job_id: jobId }),
    query: z
      .strictObject({ force_fail: flag.optional(), transient_fail: flag.optional() })
      .refine((given) => !(given.force_fail && given.transient_fail), 'take one of the two'),
    answers: {
      200: z.strictObject({
        job_id: z.string(),
        final_status: z.enum(JOB_STATUSES),
        retry_count: z.int(),
        dlq_id: z.string().nullable(),
      }),
    },
    async handle({ engine, caller, params, query, header }) {
      if (header('x-internal-debug') !== 'true') {
        throw new PawlError('FORBIDDEN', { detail: 'this takes the header x-internal-debug: true' });
      }
      const outcome: InternalOutcome = query.force_fail
        ? 'force_fail'
        : query.transient_fail
          ? 'transient_fail'
          : 'success';
      const job = await internalRun(engine, params.job_id, { ...caller, outcome });
      return ok({
        job_id: params.job_id,
        final_status: jobs.project(job),
        retry_count: job.retryCount,
        dlq_id: job.deadLetter?.dlqId ?? null,
      });
    },
  }),
];
