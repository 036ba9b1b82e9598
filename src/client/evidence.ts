import { createReadStream } from 'node:fs';
import type { Engine } from '../engine/engine.js';
import { EvidenceExport, type ExportOptions } from '../engine/evidence/export-evidence.js';
import {
  verifyEvidence,
  type EvidenceVerdict,
  type VerifyOptions,
} from '../engine/evidence/verify-evidence.js';
import {
  verifyJob,
  verifyStore,
  type JobVerdict,
  type StoreVerdict,
  type StoreVerifyOptions,
} from '../engine/evidence/verify-store.js';

/** What jobs leave behind as proof of what happened. */
export class Evidence {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The evidence of one job, or of several, line by line: write it to a file, and keep its `head` somewhere else. */
  export(
    jobIds: string | Iterable<string> | AsyncIterable<string>,
    options: ExportOptions = {},
  ): EvidenceExport {
    return new EvidenceExport(this.#engine.store, typeof jobIds === 'string' ? [jobIds] : jobIds, options);
  }

  /** Checks one job as it stands in the store. */
  verify(jobId: string): Promise<JobVerdict> {
    return verifyJob(this.#engine.store, jobId);
  }

  /** Checks every job of the store. */
  verifyAll(options: StoreVerifyOptions = {}): Promise<StoreVerdict> {
    return verifyStore(this.#engine.store, options);
  }
}

/** Checks a file of evidence. It takes no store and no application. */
export function verifyEvidenceFile(path: string, options: VerifyOptions = {}): Promise<EvidenceVerdict> {
  return verifyEvidence(createReadStream(path), options);
}
