import type { LogRow, Store } from '../../ports/store.js';

/** Rows are read so many at a time: each may hold a payload of a megabyte. */
const PAGE = 50;
/** About as much as one answer holds. */
const MOST_CHARACTERS = 4_000_000;

/** As many rows of a log as fit into one answer. */
export async function readPage(
  store: Pick<Store, 'log'>,
  jobId: string,
  { fromRev, limit }: { fromRev: number; limit: number },
): Promise<{ readonly rows: readonly LogRow[]; readonly more: boolean }> {
  const rows: LogRow[] = [];
  for (let size = 0; rows.length < limit;) {
    const asked = Math.min(PAGE, limit - rows.length);
    const page = await store.log(jobId, { fromRev: fromRev + rows.length, limit: asked });
    for (const row of page.rows) {
      rows.push(row);
      size += row.body.length;
    }
    if (page.rows.length < asked) return { rows, more: false };
    if (size > MOST_CHARACTERS) return { rows, more: rows.length < limit };
  }
  return { rows, more: false };
}
