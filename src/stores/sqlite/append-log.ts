import type { CommitItem } from '../../ports/store.js';
import { batched, type Writes } from './writes.js';

const insert = (columns: string, width: number) => {
  const into = `INSERT INTO log (${columns})`;
  const one = `${into} VALUES (${Array.from({ length: width }, () => '?').join()}) ON CONFLICT DO NOTHING`;
  return batched(width, { one, many: (lists) => `${into} VALUES ${lists} ON CONFLICT DO NOTHING` });
};
const INSERT = insert('job, rev, command_id, body, link', 5);
const INSERT_OWNER = insert('job, rev, command_id, body, link, owns', 6);

/** The fence: (job, rev) is the log's key. */
export function appendLog(writes: Writes, id: number, item: CommitItem): void {
  const { rev, commandId, body, link, identities } = item;
  const values = writes.log.next(identities.length === 0 ? INSERT : INSERT_OWNER);
  values.push(id, rev, commandId, body, link);
  if (identities.length > 0) values.push(JSON.stringify(identities));
}
