import { CHAIN_START } from '../../kernel/index.js';
import type { Store, Stray } from '../../ports/store.js';
import type { JobVerdict } from './verify-store.js';

/** How many logs are looked at together. Of more, SQLite would keep the process from other work for too long. */
const PAGE = 1_000;

/** The jobs that somebody has deleted by their row alone: no list shows them, and their log proves that they were there. */
export async function* findStrays(store: Store): AsyncGenerator<JobVerdict> {
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['strays']>> = await store.strays({ after, limit: PAGE });
    for (const { jobId, revs } of page.strays)
      yield { jobId, holds: false, problem: problemOf(revs), commits: 0, events: 0, head: CHAIN_START };
    after = page.next;
  } while (after !== null);
}

function problemOf(revs: Stray['revs']): string {
  if (revs === null) return 'its row is gone, and its log with it; that it was created is still noted';
  const { first, last } = revs;
  const left =
    first === last ? `revision ${first} of its log is` : `revisions ${first} to ${last} of its log are`;
  return `its row is gone; ${left} still there`;
}
