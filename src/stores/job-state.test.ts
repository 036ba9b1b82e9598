import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeEvents, evolveCommit, rowOf, type Job } from '../kernel/index.js';
import { prng, randomHistory } from '../testkit/index.js';
import { assemble, encodeState } from './job-state.js';

test('a job that was taken apart into its row and its log is the same job again, at every revision', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      let job: Job | null = null;
      const log: { jobId: string; rev: number; commandId: string; body: string; link: string }[] = [];
      for (const commit of randomHistory(prng(seed), { commands: 60 }).commits) {
        const { jobId, rev, events } = commit;
        const now: Job = evolveCommit(job, commit);
        log.push({ jobId, rev, commandId: `c${rev}`, body: encodeEvents(events), link: `l${rev}` });
        const row = rowOf(now);
        const stored = {
          job_id: jobId,
          status: row.status,
          rev,
          attempt_id: row.attemptId,
          incarnation: row.incarnation,
          created_at: row.createdAt,
          updated_at: row.updatedAt,
          finished_at: row.finishedAt,
          inbox_rev: 0,
          state: encodeState(now),
        };
        const needed = log.filter((logged) => logged.rev === 1 || logged.rev === rev);
        expect(assemble(stored, needed)).toEqual({ job: now, link: `l${rev}`, inboxRev: 0 });
        job = now;
      }
    }),
    { numRuns: 100 },
  );
});

test('what a claim writes beside its columns is the worker and nothing else', () => {
  const { commits } = randomHistory(prng(1), { commands: 200 });
  let job: Job | null = null;
  for (const commit of commits) {
    job = evolveCommit(job, commit);
    const first =
      commit.events.some(({ type }) => type === 'attempt.started') && job.startedAt === job.updatedAt;
    if (first) expect(encodeState(job)).toBe(`{"workerId":${JSON.stringify(job.worker?.id)}}`);
  }
});
