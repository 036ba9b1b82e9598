import { JobCheck, type JobRecord } from './check-job.js';
import { EVIDENCE_FORMAT, MAY_FOLLOW, type EvidenceRecord } from './evidence-record.js';
import { readRecord } from './read-record.js';
import { openSeal, SEAL_START } from './seal.js';

/** Checks a file of evidence line by line. */
export class FileCheck {
  readonly #onProgress: (jobs: number) => void;
  #last: EvidenceRecord['kind'] | 'nothing' = 'nothing';
  #job: JobCheck | null = null;
  head = SEAL_START;
  jobs = 0;
  commits = 0;
  events = 0;

  constructor(onProgress: (jobs: number) => void) {
    this.#onProgress = onProgress;
  }

  get isComplete(): boolean {
    return this.#last === 'end';
  }

  /** What is wrong with the next line, to be read after its number; null if nothing is. */
  line(bytes: Buffer): string | null {
    const opened = openSeal(bytes, this.head);
    if (opened === null) return `is not what was written after the line before it${this.#where}`;
    this.head = opened.seal;
    const record = readRecord(opened.text);
    if (record === null) return `is sealed, but is no line of evidence${this.#where}`;
    if (!MAY_FOLLOW[record.kind].includes(this.#last))
      return `is out of place: '${record.kind}' after '${this.#last}'${this.#where}`;
    this.#last = record.kind;
    const problem = this.#take(record);
    return problem === null ? null : `does not hold${this.#where}: ${problem}`;
  }

  get #where(): string {
    return this.#job === null ? '' : ` (job ${this.#job.jobId})`;
  }

  #take(record: EvidenceRecord): string | null {
    switch (record.kind) {
      case 'evidence':
        return record.format === EVIDENCE_FORMAT ? null : `format ${record.format} is not known here`;
      case 'job':
        this.#job = new JobCheck(record.jobId);
        return null;
      case 'end':
        return record.jobs === this.jobs ? null : `it counts ${record.jobs} jobs, and there are ${this.jobs}`;
      default:
        return this.#job === null ? 'it belongs to no job' : this.#takeOf(this.#job, record);
    }
  }

  #takeOf(job: JobCheck, record: JobRecord): string | null {
    const problem = job.take(record);
    if (record.kind !== 'row' || problem !== null) return problem;
    this.#job = null;
    this.jobs += 1;
    this.commits += job.commits;
    this.events += job.events;
    this.#onProgress(this.jobs);
    return null;
  }
}
