import { appendFileSync } from 'node:fs';
import type { Store } from '../../src/ports/store.js';

/** Writes every commit of every job to a file, a line for each: the database itself is gone with its server. */
export async function keepLogs(store: Store, file: string): Promise<void> {
  let after: Parameters<Store['feed']>[0]['after'] = null;
  for (;;) {
    const { rows } = await store.feed({ after, limit: 1_000 });
    const last = rows.at(-1);
    if (last === undefined) return;
    appendFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    after = last.position;
  }
}
