import { runSummary, type RunSnapshot, type RunSummary } from '../../contracts/index.js';
import type { RunQuery } from './run-state-table.js';

/** What of a run decides on whether a query finds it, for stores without an index. */
export function isAskedFor(query: RunQuery, { status, workflow_name }: RunSummary): boolean {
  return (
    (query.status === null || status === query.status) &&
    (query.workflowName === null || workflow_name === query.workflowName)
  );
}

/** Ids in the order of lists, from where the query starts. */
export function idsInOrder(ids: Iterable<string>, { before }: RunQuery): string[] {
  return [...ids].filter((id) => before === null || id < before).toSorted((a, b) => (a < b ? 1 : -1));
}

/** Reads runs one by one, in order, until the page is full. A run that is gone meanwhile is left out. */
export async function pageOf(
  ids: readonly string[],
  query: RunQuery,
  read: (id: string) => Promise<RunSnapshot | null>,
): Promise<RunSummary[]> {
  const page: RunSummary[] = [];
  for (const id of ids) {
    const found = await read(id);
    if (found !== null && isAskedFor(query, found)) page.push(runSummary(found));
    if (page.length === query.limit) break;
  }
  return page;
}
