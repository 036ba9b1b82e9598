import type { CommitItem } from '../../src/ports/store.js';

/** What raw SQL needs to know of a new job. */
export type RawJob = Pick<CommitItem, 'jobId' | 'commandId' | 'body' | 'link'>;

/**
 * A database doing the least SQL that does the work of a store, with full durability: jobs that are claimed by tenant,
 * priority and time, a holder whose jobs can be found, a log that cannot fork and can be followed, and as many bytes.
 */
export interface RawDatabase {
  create(items: readonly RawJob[], batch: number): Promise<void>;
  /** Claims what is there and completes it, batch by batch. `steps`: records in between, each a commit for the batch. */
  finish(
    jobs: number,
    asked: { readonly batch: number; readonly steps?: number; readonly link: string },
  ): Promise<void>;
  /** Step records of one job, each a commit of its own. Milliseconds for each. */
  steps(count: number, link: string): Promise<number[]>;
  close(): Promise<void>;
}

/** What raw SQL writes in place of the kernel's events, and of what a row holds besides its columns: as many bytes. */
export const RAW = {
  lane: 'default order',
  claim: '{"v":2,"events":[{"type":"attempt.started"}]}'.padEnd(150),
  step: '{"v":2,"events":[{"type":"step.recorded"}]} 1'.padEnd(140),
  end: '{"v":2,"events":[{"type":"job.succeeded"}]} {"ok":true}'.padEnd(126),
  claimed: '{"workerId":"w"}',
  ended: '{"startedAt":1794748068960}',
};

export function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
