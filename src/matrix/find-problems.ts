import { isDeepStrictEqual } from 'node:util';
import { chainHash } from '../engine/sha256.js';
import {
  changesOf,
  decodeEvents,
  findBreaches,
  findBrokenLink,
  replay,
  type Commit,
} from '../kernel/index.js';
import type { Store } from '../ports/store.js';
import { holderOf } from '../worker/names.js';

/** What is wrong with a job's log: its chain, its order, the rules of its history, or the row beside it. */
export async function findProblems(store: Store, jobId: string): Promise<string[]> {
  const { rows } = await store.log(jobId, { fromRev: 1, limit: 10_000 });
  const { found } = await store.load(jobId);
  if (found === null) return [`${jobId} is lost`];
  const problems: string[] = [];
  const broken = findBrokenLink(chainHash, rows, { rev: found.job.rev, link: found.link });
  if (broken) problems.push(`revision ${broken.rev} is ${broken.problem}`);

  const commits: Commit[] = [];
  for (const { rev, body } of rows) {
    const decoded = decodeEvents(body);
    if (!decoded.ok) return [...problems, decoded.problem];
    commits.push({ jobId, rev, events: decoded.events });
  }
  if (!isDeepStrictEqual(replay(commits).job, found.job)) problems.push('its row is not what its log makes');

  const changes = changesOf(commits);
  problems.push(...findBreaches(changes));
  const writers = new Map(rows.map(({ rev, commandId }) => [rev, holderOf(commandId)?.attemptId]));
  for (const { rev, index, before, event } of changes) {
    const writer = writers.get(rev);
    const holder = event.type === 'attempt.started' ? event.attemptId : before?.attemptId;
    if (index === 0 && writer !== undefined && writer !== holder) {
      problems.push(`revision ${rev} was written by ${writer}, while ${holder ?? 'nobody'} held the job`);
    }
  }
  return problems;
}
