import { PawlError } from '../../errors.js';
import type { PurgeGuard, Store } from '../../ports/store.js';
import { EVIDENCE_FORMAT, type EvidenceRecord } from './evidence-record.js';
import { jobEvidence } from './job-evidence.js';
import { SEAL_START, sealed } from './seal.js';

export type ExportOptions = {
  /** A job that is gone by the time it is read is left out. Otherwise it is an error. */
  readonly passOverGone?: boolean;
  readonly onProgress?: (jobs: number) => void;
};

/**
 * The evidence of jobs, line by line: what a file of it holds. Nothing in it depends on when or where it is written, so
 * the same jobs give the same text. Read it once.
 */
export class EvidenceExport implements AsyncIterable<string> {
  readonly #store: Store;
  readonly #jobIds: AsyncIterable<string> | Iterable<string>;
  readonly #options: ExportOptions;
  #seal = SEAL_START;
  #ended = false;
  /** How much has been written so far. */
  jobs = 0;
  commits = 0;
  /** Of the last job: what must still be so for it to be deleted without loss. */
  guard: PurgeGuard | null = null;

  constructor(store: Store, jobIds: AsyncIterable<string> | Iterable<string>, options: ExportOptions = {}) {
    this.#store = store;
    this.#jobIds = jobIds;
    this.#options = options;
  }

  /**
   * The seal of the last line, which covers every byte before it; null until all has been read. Kept somewhere else, it
   * shows later that the file is the one that was written.
   */
  get head(): string | null {
    return this.#ended ? this.#seal : null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    yield this.#line({ kind: 'evidence', format: EVIDENCE_FORMAT });
    for await (const jobId of this.#jobIds) {
      const records = jobEvidence(this.#store, jobId);
      const first = await this.#begin(records);
      if (first === null) continue;
      yield this.#line(first);
      for (let next = await records.next(); ; next = await records.next()) {
        if (next.done) {
          this.guard = next.value;
          break;
        }
        yield this.#line(next.value);
      }
      this.jobs += 1;
      this.#options.onProgress?.(this.jobs);
    }
    const line = this.#line({ kind: 'end', jobs: this.jobs });
    this.#ended = true;
    yield line;
  }

  async #begin(records: AsyncGenerator<EvidenceRecord, PurgeGuard>): Promise<EvidenceRecord | null> {
    try {
      const { value, done } = await records.next();
      return done ? null : value;
    } catch (error) {
      const isGone = error instanceof PawlError && error.code === 'JOB_NOT_FOUND';
      if (isGone && this.#options.passOverGone) return null;
      throw error;
    }
  }

  #line(record: EvidenceRecord): string {
    if (record.kind === 'log') this.commits += 1;
    const { seal, line } = sealed(record, this.#seal);
    this.#seal = seal;
    return line;
  }
}
