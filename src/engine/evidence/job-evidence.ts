import { decodeEvents, isTerminal, type Job } from '../../kernel/index.js';
import { PawlError } from '../../errors.js';
import type { EffectResult, LogRow, PurgeGuard, Store } from '../../ports/store.js';
import { summaryOf, type EvidenceRecord } from './evidence-record.js';

const PAGE = 500;

/** A job as it was at one moment: its row, and which results its ledger held before; null if it has ended, and all count. */
type Snapshot = { readonly job: Job; readonly known: ReadonlySet<string> | null };

/**
 * Everything that is known of a job, record by record; its log is read in pages. The job may go on meanwhile: what is
 * told is how it stood at its row. Throws `JOB_NOT_FOUND` if it is not there, or is deleted while it is read. Answers with
 * what must still be so for the job to be deleted without loss.
 */
export async function* jobEvidence(store: Store, jobId: string): AsyncGenerator<EvidenceRecord, PurgeGuard> {
  const { job, known } = await snapshot(store, jobId);
  yield { kind: 'job', jobId };
  const intended = new Set<string>();
  for (let from = 1; from <= job.rev; from += PAGE) {
    const limit = Math.min(PAGE, job.rev - from + 1);
    const { rows } = await store.log(jobId, { fromRev: from, limit });
    for (const row of rows) {
      for (const entry of intentsIn(row)) intended.add(entry);
      const { rev, commandId, body, link } = row;
      yield { kind: 'log', rev, commandId, body, link };
    }
  }
  const effects = (await store.effects(jobId)).results.filter(
    // What the job began after its row was read is not part of this.
    (result) => known === null || known.has(entryOf(result)) || intended.has(entryOf(result)),
  );
  for (const { step, occurrence, entry, result } of effects)
    yield { kind: 'effect', step, occurrence, entry, result };
  const { messages, inboxRev } = await store.inbox(jobId);
  for (const { key, payload, receivedAt } of messages) yield { kind: 'message', key, payload, receivedAt };
  if (job.deadLetter?.dlqId) {
    const { item } = await store.dlqItem(job.deadLetter.dlqId);
    if (item !== null) yield { kind: 'deadLetter', item };
  }
  // What was read above belongs together only if nobody has deleted it meanwhile.
  if ((await store.load(jobId)).found === null) throw gone(jobId);
  yield { kind: 'row', row: summaryOf(job) };
  const results = effects.filter(({ result }) => result !== null).length;
  return { inboxRev, effects: effects.length, results };
}

/** A finished job stands still. Of another, results that are there before its row is read must have an intent in its log. */
async function snapshot(store: Store, jobId: string): Promise<Snapshot> {
  const { found } = await store.load(jobId);
  if (found === null) throw gone(jobId);
  if (isTerminal(found.job.status)) return { job: found.job, known: null };
  const { results } = await store.effects(jobId);
  const later = (await store.load(jobId)).found;
  if (later === null) throw gone(jobId);
  return { job: later.job, known: new Set(results.map(entryOf)) };
}

/** Most rows speak of no effect, and are not even read. */
function intentsIn({ body }: LogRow): string[] {
  if (!body.includes('"effect.intended"')) return [];
  const decoded = decodeEvents(body);
  if (!decoded.ok) return [];
  return decoded.events.flatMap((event) => (event.type === 'effect.intended' ? [entryOf(event)] : []));
}

function entryOf({ step, occurrence, entry }: Pick<EffectResult, 'step' | 'occurrence' | 'entry'>): string {
  return JSON.stringify([step, occurrence, entry]);
}

function gone(jobId: string): PawlError {
  return new PawlError('JOB_NOT_FOUND', { detail: `there is no job ${jobId}`, details: { jobId } });
}
