import type { Store, Stray } from '../../ports/store.js';
import { byText, type Tables } from './tables.js';

/** A job's log is part of the job here: what can be left of it is in the feed. */
export function strays({ jobs, feed }: Tables, now: () => number): Pick<Store, 'strays'> {
  return {
    async strays({ after, limit }) {
      const left = new Map<string, Stray>();
      for (const { jobId, rev } of feed) {
        if (jobs.has(jobId) || (after !== null && jobId <= after)) continue;
        left.set(jobId, { jobId, revs: { first: left.get(jobId)?.revs?.first ?? rev, last: rev } });
      }
      const page = [...left.values()].toSorted((a, b) => byText(a.jobId, b.jobId)).slice(0, limit);
      const next = left.size > page.length ? (page.at(-1)?.jobId ?? null) : null;
      return { now: now(), strays: page, next };
    },
  };
}
