import { decidedEntry, type Timestamp } from '../kernel/index.js';
import type { Engine } from './engine.js';

/** An effect that nobody knows the outcome of, and whose job waits for an operator to say. */
export type UnknownEffect = {
  readonly jobId: string;
  readonly tenantId: string;
  readonly task: string;
  readonly step: string;
  readonly occurrence: number;
  readonly entry: number;
  readonly waitingSince: Timestamp;
};

const PAGE = 200;

/** Newest first. */
export async function unknownEffects(engine: Engine, tenantId: string | null): Promise<UnknownEffect[]> {
  const found: UnknownEffect[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Engine['store']['list']>> = await engine.store.list({
      tenantId,
      statuses: ['waiting'],
      task: null,
      limit: PAGE,
      cursor,
    });
    for (const { jobId } of page.rows) found.push(...(await ofJob(engine, jobId)));
    cursor = page.next;
  } while (cursor !== null);
  return found;
}

async function ofJob(engine: Engine, jobId: string): Promise<UnknownEffect[]> {
  const { found } = await engine.store.load(jobId);
  if (found === null || found.job.status !== 'waiting') return [];
  const { spec, waits, updatedAt } = found.job;
  return waits.flatMap((wait) => {
    const entry = decidedEntry(wait);
    if (entry === null) return [];
    return [{ jobId, tenantId: spec.tenantId, task: spec.task, ...entry, waitingSince: updatedAt }];
  });
}
