import type { Store } from '../../ports/store.js';
import { byText, entryKey, type Tables } from './tables.js';

/** Results of effects, and messages to jobs. */
export function mailbox(
  { jobs }: Tables,
  now: () => number,
): Pick<Store, 'putEffect' | 'effects' | 'putMessage' | 'inbox' | 'unread'> {
  return {
    async putEffect(put) {
      const effects = jobs.get(put.jobId)?.effects;
      const key = entryKey(put);
      const known = effects?.get(key);
      const first = effects !== undefined && (!known || (known.result === null && put.result !== null));
      if (first) effects.set(key, { ...put });
      return { now: now(), first };
    },
    async effects(jobId) {
      const results = [...(jobs.get(jobId)?.effects.values() ?? [])].toSorted(
        (a, b) => byText(a.step, b.step) || a.occurrence - b.occurrence || a.entry - b.entry,
      );
      return { now: now(), results };
    },
    async putMessage({ jobId, key, payload }) {
      const kept = jobs.get(jobId);
      if (!kept) return { now: now(), outcome: 'no job' };
      if (kept.inbox.has(key)) return { now: now(), outcome: 'repeated' };
      kept.inbox.set(key, { jobId, key, payload, receivedAt: now(), consumed: false });
      kept.inboxRev += 1;
      return { now: now(), outcome: 'kept' };
    },
    async inbox(jobId) {
      const kept = jobs.get(jobId);
      const messages = [...(kept?.inbox.values() ?? [])]
        .filter(({ consumed }) => !consumed)
        .map(({ key, payload, receivedAt }) => ({ jobId, key, payload, receivedAt }))
        .toSorted((a, b) => a.receivedAt - b.receivedAt || byText(a.key, b.key));
      return { now: now(), messages, inboxRev: kept?.inboxRev ?? 0 };
    },
    async unread({ after, limit }) {
      const stirred = [...jobs.values()].filter(
        ({ row, inbox, bornAt }) =>
          row.status === 'waiting' &&
          bornAt > Number(after ?? -1) &&
          [...inbox.values()].some(({ consumed }) => !consumed),
      );
      const page = stirred.slice(0, limit);
      const last = page.length === limit ? page.at(-1) : undefined;
      return {
        now: now(),
        jobIds: page.map(({ row }) => row.jobId),
        next: last ? `${last.bornAt}` : null,
      };
    },
  };
}
