import { readLog } from '../../engine/read-log.js';
import type { Fault } from '../fault.js';

const HELD = 3;
/**
 * Long enough for the busiest machine to keep it until the strike. Jobs that lose their worker twice before are taken for
 * what kills it, and run one at a time: behind one that is held here the others would wait forever.
 */
const LEASE_MS = 3_000;

/** A worker that holds several jobs is killed from outside, or freezes for good: its lease ends, and another has them all. */
export const reclaim: Fault = {
  id: 'F10',
  variants: 4,
  async strike(trial) {
    const hold = trial.pick(['charge', 'charge', 'quote', 'quote'] as const);
    const signal = trial.pick(['SIGKILL', 'SIGSTOP'] as const);
    const victim = await trial.work({ hold, options: { lease: LEASE_MS } });
    const jobs = [];
    for (let n = 0; n < HELD; n++) jobs.push(await trial.order());
    for (const job of jobs) await trial.entered(job, hold);
    await trial.strike(victim, signal);
    await trial.work();
    await trial.finish();
    const problems: ['G1', string][] = [];
    for (const { handle } of jobs) {
      const events = (await readLog(trial.ground.store, handle.id)).flatMap((commit) => commit.events);
      const reasons = events.flatMap((event) => (event.type === 'attempt.interrupted' ? [event.reason] : []));
      if (reasons[0] !== 'lease_expired') problems.push(['G1', `it was interrupted by ${reasons.join()}`]);
      if (events.some(({ type }) => type === 'attempt.failed'))
        problems.push(['G1', 'a crash has cost an attempt']);
    }
    return { how: `${signal} of a worker with ${HELD} jobs in '${hold}'; all reclaimed`, problems };
  },
};
