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
import * as is from '../engine/option-checks.js';
import { Options } from '../engine/options.js';

const EXPORT = new Options<ExportOptions>({ passOverGone: is.flag, onProgress: is.func });
const VERIFY_ALL = new Options<StoreVerifyOptions>({ tenantId: is.orNull(is.text), onProgress: is.func });
const VERIFY_FILE = new Options<VerifyOptions>({ head: is.orNull(is.text), onProgress: is.func });

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
    EXPORT.expect(options, 'evidence.export()');
    return new EvidenceExport(this.#engine.store, typeof jobIds === 'string' ? [jobIds] : jobIds, options);
  }

  /** Checks one job as it stands in the store. */
  verify(jobId: string): Promise<JobVerdict> {
    return verifyJob(this.#engine.store, jobId);
  }

  /** Checks every job of the store. */
  async verifyAll(options: StoreVerifyOptions = {}): Promise<StoreVerdict> {
    VERIFY_ALL.expect(options, 'verifyAll()');
    return verifyStore(this.#engine.store, options);
  }
}

/** Checks a file of evidence. It takes no store and no application. */
export async function verifyEvidenceFile(
  path: string,
  options: VerifyOptions = {},
): Promise<EvidenceVerdict> {
  VERIFY_FILE.expect(options, 'verifyEvidenceFile()');
  return verifyEvidence(createReadStream(path), options);
}
