import { readLog } from '../../src/engine/read-log.js';
import { isTerminal, STATUSES } from '../../src/kernel/index.js';
import type { Store } from '../../src/ports/store.js';
import type { HttpClient } from './http-client.js';
import { pause, type Load } from './load.js';
import type { Outside } from './outside.js';

const LIVE = STATUSES.filter((status) => !isTerminal(status));
/** So long may nothing at all move before it counts as stuck: far longer than leases, retries and polls together. */
const STUCK_MS = 60_000;
const LOOK_MS = 250;

export type DrainParts = {
  readonly store: Store;
  readonly client: HttpClient;
  readonly load: Load;
  readonly outside: Outside;
};

/** Faults are over: lets every job end, and does what only people can. Answers with those that do not. */
export async function drain(parts: DrainParts): Promise<string[]> {
  let [last, movedAt] = ['', performance.now()];
  for (;;) {
    const { live, state } = await look(parts.store);
    if (live.length === 0) return [];
    if (state !== last) [last, movedAt] = [state, performance.now()];
    if (performance.now() - movedAt > STUCK_MS) return live;
    await care(parts);
    await pause(LOOK_MS);
  }
}

async function look(store: Store): Promise<{ live: string[]; state: string }> {
  const live: string[] = [];
  let state = '';
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['list']>> = await store.list({
      tenantId: null,
      statuses: LIVE,
      task: null,
      limit: 200,
      cursor,
    });
    live.push(...page.rows.map(({ jobId, task, status }) => `${jobId} (${task}) is ${status}`));
    state += page.rows.map(({ jobId, rev }) => `${jobId}/${rev}`).join();
    cursor = page.next;
  } while (cursor !== null);
  return { live, state };
}

/** Signals whoever waits for one, and answers for effects of unknown outcome by what really happened. */
async function care({ store, client, load, outside }: DrainParts): Promise<void> {
  const { rows } = await store.list({
    tenantId: null,
    statuses: ['waiting'],
    task: 'approval',
    limit: 200,
    cursor: null,
  });
  for (const { jobId } of rows) {
    const waits = (await store.load(jobId)).found?.job.waits ?? [];
    if (waits.some(({ key }) => key === 'go')) await load.signal(jobId, 'by the caretaker');
  }
  const unknown = await client.ask('GET', '/api/v1/effects/unknown');
  const effects = (unknown?.data['effects'] ?? []) as { job_id: string; step: string; occurrence: number }[];
  for (const { job_id: jobId, step, occurrence } of effects) {
    const intents = (await readLog(store, jobId)).flatMap(({ events }) =>
      events.flatMap((event) =>
        event.type === 'effect.intended' && event.step === step && event.occurrence === occurrence
          ? [event.effectKey]
          : [],
      ),
    );
    const key = intents.at(-1) ?? '';
    const result = outside.resultOf(key);
    if (result === null) outside.note(key, 'denied');
    const verdict = result === null ? { verdict: 'notHappened' } : { verdict: 'happened', result };
    await client.ask('POST', `/api/v1/jobs/${jobId}/effects/resolve`, { step, occurrence, ...verdict });
  }
}
