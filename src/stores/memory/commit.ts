import { rowOf } from '../../kernel/index.js';
import type { CommitItem, CommitReply } from '../../ports/store.js';
import { encodeState } from '../job-state.js';
import { isTaken } from '../identity.js';
import { entryKey, type Kept, type Tables } from './tables.js';

/** Saves one commit. All guards are looked at first, so that a refusal has written nothing. */
export function save(tables: Tables, item: CommitItem): CommitReply {
  const kept = tables.jobs.get(item.jobId);
  if (kept?.log[item.rev - 1]?.commandId === item.commandId) return { ok: true, repeated: true };
  const owners = item.identities.map((identity) => tables.ownerOf(identity));
  if (isTaken(item.identities, owners)) return { ok: false, code: 'IDENTITY_TAKEN', owners };
  if (item.identities.some(({ needs }) => needs !== undefined && !tables.jobs.has(needs)))
    return { ok: false, code: 'JOB_GONE' };
  if (item.rev !== (kept?.log.length ?? 0) + 1) return { ok: false, code: 'REV_TAKEN' };
  if (kept && isGone(kept, item)) return { ok: false, code: 'ATTEMPT_GONE' };
  if (kept && item.inboxRev !== null && kept.inboxRev !== item.inboxRev)
    return { ok: false, code: 'INBOX_MOVED' };
  if (kept && hasResult(kept, item)) return { ok: false, code: 'RESULT_STORED' };
  if (item.dlqItem && !tables.isNextOf(item.dlqItem)) return { ok: false, code: 'DLQ_MOVED' };
  write(tables, item, kept);
  return { ok: true, repeated: false };
}

function isGone({ row }: Kept, { attemptId }: CommitItem): boolean {
  return attemptId !== null && (row.attemptId !== attemptId || row.incarnation === null);
}

function hasResult({ effects }: Kept, { noResultOf }: CommitItem): boolean {
  const stored = noResultOf && effects.get(entryKey(noResultOf));
  return (stored?.result ?? null) !== null;
}

function write(tables: Tables, item: CommitItem, kept: Kept | undefined): void {
  const { jobId, rev, commandId, body, link, job } = item;
  const log = { jobId, rev, commandId, body, link };
  if (kept) {
    kept.log.push(log);
    if (job) {
      kept.row = rowOf(job);
      kept.state = encodeState(job);
    }
  } else if (job) {
    const { identities } = item;
    const bornAt = tables.lastPosition + 1;
    const empty = { bornAt, inboxRev: 0, held: null, creation: null, inbox: new Map(), effects: new Map() };
    tables.jobs.set(jobId, { row: rowOf(job), state: encodeState(job), identities, log: [log], ...empty });
  }
  tables.feed.push({ ...log, position: ++tables.lastPosition });
  for (const identity of item.identities) tables.own(identity, jobId);
  for (const key of item.consumed) Object.assign(kept?.inbox.get(key) ?? {}, { consumed: true });
  for (const entry of item.outbox) tables.outbox.set(entry.entryId, { ...entry, jobId, tries: 0 });
  if (item.dlqItem) tables.dlq.set(item.dlqItem.dlqId, structuredClone(item.dlqItem));
}
