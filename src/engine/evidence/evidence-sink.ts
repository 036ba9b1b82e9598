import { PawlError } from '../../errors.js';
import type { AgedJob, Purge, PurgeGuard } from '../../ports/store.js';
import type { Engine } from '../engine.js';
import { EvidenceExport } from './export-evidence.js';

/** The evidence of one job that is about to be deleted. */
export type JobEvidence = AgedJob & {
  /** The text, line by line, to be read once and to its end. `head` is known then. */
  readonly lines: EvidenceExport;
};

/**
 * Takes the evidence of a job, and returns when it is safe: the job is deleted next. It may get a job more than once, with
 * the same text unless something came to the job meanwhile.
 */
export type EvidenceSink = (evidence: JobEvidence) => Promise<void>;

/** Hands jobs over to a sink, one after the other. Answers with those that may go now, as they were when they were read. */
export async function writeEvidence(
  engine: Engine,
  sink: EvidenceSink,
  jobs: readonly AgedJob[],
): Promise<Purge['jobs']> {
  const written: { readonly jobId: string; readonly guard: PurgeGuard }[] = [];
  const failures: { readonly jobId: string; readonly error: unknown }[] = [];
  for (const job of jobs) {
    const { jobId } = job;
    const lines = new EvidenceExport(engine.store, [jobId]);
    try {
      await sink({ ...job, lines });
      if (lines.head === null || lines.guard === null) throw new Error('the sink did not read all of it');
      written.push({ jobId, guard: lines.guard });
    } catch (error) {
      // Another process was faster.
      const isGone = error instanceof PawlError && error.code === 'JOB_NOT_FOUND';
      if (!isGone) failures.push({ jobId, error });
    }
  }
  const [first] = failures;
  if (first !== undefined) {
    engine.log.error('the evidence of finished jobs could not be written: they are kept', {
      jobs: failures.length,
      ...first,
    });
  }
  return written;
}
