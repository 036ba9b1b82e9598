import type { CommitItem } from '../../ports/store.js';
import { batchedInsert, type Writes } from './writes.js';

const COLUMNS = ['job', 'rev', 'command_id', 'body', 'link'] as const;
const INSERT = batchedInsert('log', COLUMNS);
const INSERT_OWNER = batchedInsert('log', [...COLUMNS, 'owns']);

/** The fence: (job, rev) is the log's key. */
export function appendLog(writes: Writes, id: number, item: CommitItem): void {
  const { rev, commandId, body, link, identities } = item;
  const values = writes.log.next(identities.length === 0 ? INSERT : INSERT_OWNER);
  values.push(id, rev, commandId, body, link);
  if (identities.length > 0) values.push(JSON.stringify(identities));
}
