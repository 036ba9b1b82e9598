import { decodeEvents, isTerminal, type Event } from '../kernel/index.js';
import type { Store } from '../ports/store.js';

export type RestoredOptions = {
  /** Which tasks; null: those of which any job that the log knows has begun an effect. */
  readonly tasks: readonly string[] | null;
  /** Every unfinished job, whatever its task. */
  readonly all: boolean;
  readonly by: string;
  readonly onProgress?: (jobs: number) => void;
};

export type RestoredReport = {
  readonly looked: number;
  readonly held: number;
  readonly heldByTask: Readonly<Record<string, number>>;
};

const PAGE = 500;

/**
 * After a restore to an earlier point the log no longer proves what ran: an effect may have happened whose intent is
 * gone. Unfinished jobs of tasks with effects are held, in whatever state they are, until someone releases them.
 */
export async function holdRestored(store: Store, options: RestoredOptions): Promise<RestoredReport> {
  const wanted = options.all ? null : new Set(options.tasks ?? (await tasksWithEffects(store)));
  const heldByTask = new Map<string, number>();
  let looked = 0;
  let held = 0;
  for await (const rows of pagesOf(store)) {
    const unfinished = rows.filter(({ status, task }) => !isTerminal(status) && (wanted?.has(task) ?? true));
    const jobIds = unfinished.map(({ jobId }) => jobId);
    if (jobIds.length > 0) {
      held += (await store.hold({ jobIds, reason: 'restored', by: options.by })).changed;
      for (const { task } of unfinished) heldByTask.set(task, (heldByTask.get(task) ?? 0) + 1);
    }
    looked += rows.length;
    options.onProgress?.(looked);
  }
  return { looked, held, heldByTask: Object.fromEntries(heldByTask) };
}

async function* pagesOf(store: Store): AsyncGenerator<Awaited<ReturnType<Store['list']>>['rows']> {
  let cursor: string | null = null;
  do {
    const page = await store.list({ tenantId: null, statuses: null, task: null, limit: PAGE, cursor });
    yield page.rows;
    cursor = page.next;
  } while (cursor !== null);
}

/**
 * Only the log knows which tasks have effects. It is read job by job: a feed is in the order of its database's transactions, which
 * mean nothing in another that a dump was restored to.
 */
async function tasksWithEffects(store: Store): Promise<Set<string>> {
  const tasks = new Set<string>();
  for await (const rows of pagesOf(store)) {
    const begun = rows.filter(({ rev }) => rev > 1);
    await Promise.all(
      begun.map(async ({ jobId, task }) => {
        if (!tasks.has(task) && (await hasEffect(store, jobId))) tasks.add(task);
      }),
    );
  }
  return tasks;
}

async function hasEffect(store: Store, jobId: string): Promise<boolean> {
  for (let fromRev = 1; ; fromRev += PAGE) {
    const { rows } = await store.log(jobId, { fromRev, limit: PAGE });
    if (rows.some(({ body }) => eventsIn(body).some(({ type }) => type === 'effect.intended'))) return true;
    if (rows.length < PAGE) return false;
  }
}

/** A row that cannot be read is for `verify` to report; here it proves nothing. */
function eventsIn(body: string): readonly Event[] {
  const decoded = decodeEvents(body);
  return decoded.ok ? decoded.events : [];
}
