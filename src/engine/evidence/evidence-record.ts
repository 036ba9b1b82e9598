import type { DlqItem, Job, JsonText } from '../../kernel/index.js';
import type { EffectResult, Message } from '../../ports/store.js';

/** The format of evidence files. A reader refuses a later one. */
export const EVIDENCE_FORMAT = 1;

/** A job's row, without what its log holds in full. */
export type JobSummary = Omit<Job, 'spec' | 'input' | 'result'>;

/**
 * One line of an evidence file. A file is `evidence`, then for each job `job`, its `log`, its `effect`s, the `message`s
 * that nobody has read, its `deadLetter` if it has one, and its `row`; then `end`.
 */
export type EvidenceRecord =
  | { readonly kind: 'evidence'; readonly format: number }
  | { readonly kind: 'job'; readonly jobId: string }
  | LogRecord
  | ({ readonly kind: 'effect' } & Omit<EffectResult, 'jobId'>)
  | ({ readonly kind: 'message' } & Omit<Message, 'jobId'>)
  | { readonly kind: 'deadLetter'; readonly item: DlqItem }
  | { readonly kind: 'row'; readonly row: JobSummary }
  | { readonly kind: 'end'; readonly jobs: number };

export type LogRecord = {
  readonly kind: 'log';
  readonly rev: number;
  readonly commandId: string;
  readonly body: JsonText;
  readonly link: string;
};

/** What may follow what: the record before, by the one that comes. */
export const MAY_FOLLOW: Readonly<
  Record<EvidenceRecord['kind'], readonly (EvidenceRecord['kind'] | 'nothing')[]>
> = {
  evidence: ['nothing'],
  job: ['evidence', 'row'],
  log: ['job', 'log'],
  effect: ['log', 'effect'],
  message: ['log', 'effect', 'message'],
  deadLetter: ['log', 'effect', 'message'],
  row: ['log', 'effect', 'message', 'deadLetter'],
  end: ['evidence', 'row'],
};

export function summaryOf({ spec: _spec, input: _input, result: _result, ...row }: Job): JobSummary {
  return row;
}
