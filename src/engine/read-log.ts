import { eventsOf, evolve, StepLog, type Commit, type Event, type Job } from '../kernel/index.js';
import type { Store } from '../ports/store.js';

/** Most logs are short, and read with those of others: a store is not asked for a thousand rows before it is known that there are many. */
const FIRST_PAGE = 50;
const PAGE = 1_000;

export type NamedCommit = Commit & { readonly commandId: string };

/** The commits of a job, from a revision on. */
export async function readLog(store: Store, jobId: string, fromRev = 1): Promise<NamedCommit[]> {
  const commits: NamedCommit[] = [];
  for (let from = fromRev; ;) {
    const limit = from === fromRev ? FIRST_PAGE : PAGE;
    const { rows } = await store.log(jobId, { fromRev: from, limit });
    for (const row of rows) {
      commits.push({ jobId, rev: row.rev, commandId: row.commandId, events: eventsOf(row) });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return commits;
    from = last.rev + 1;
  }
}

/** The steps of a job, from its whole log. */
export async function readSteps(store: Store, jobId: string): Promise<StepLog> {
  return foldSteps(eventsIn(await readLog(store, jobId)));
}

export const eventsIn = (commits: readonly Commit[]): Event[] => commits.flatMap(({ events }) => events);

/** The steps that all the events of a job amount to. */
export function foldSteps(events: readonly Event[]): StepLog {
  const steps = new StepLog();
  let job: Job | null = null;
  for (const event of events) {
    steps.apply(job, event);
    job = evolve(job, event);
  }
  return steps;
}
