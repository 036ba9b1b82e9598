import { readLog } from '../../engine/read-log.js';
import type { Fault } from '../fault.js';
import { Missed, type Trial } from '../trial.js';
import { fateOf, thaw } from './thaw.js';

/** Where the worker stands still that is about to lose its lease: with a write on its lips. */
const POINTS = [
  'before commit step.recorded:quote 1',
  'before commit effect.recorded:charge 1',
  'before putEffect charge 1',
] as const;

const ZOMBIE_LEASE_MS = 3_000;

export const twoClaimers: Fault = {
  id: 'F6',
  variants: POINTS.length,
  async strike(trial) {
    const at = trial.pick(POINTS);
    // Long enough for both to be there before there is anything to take, so that they try in the same moment.
    const ready = [await trial.ready(), await trial.ready()];
    const zombie = await trial.work({ at, by: 'SIGSTOP', options: { lease: ZOMBIE_LEASE_MS } });
    const job = await trial.order();
    await trial.struck(zombie, at);
    const options = { poll: 5 } as const;
    const claimers = await Promise.all(ready.map((one) => trial.work({ options, ready: one })));
    if ((await job.handle.status()).status !== 'running')
      throw new Missed('the lease ended before both were there');
    await trial.until('somebody has taken over', async () => (await claimsOf(trial, job.handle.id)) > 1);
    await thaw(trial, { zombie, at });
    await trial.finish();
    const { words, problems } = fateOf(zombie, at);
    const tried = claimers.filter((one) => one.trace().includes('before claim 1')).length;
    return { how: `frozen ${at.replace(/ \d+$/, '')}, ${tried} others claim; then ${words}`, problems };
  },
};

async function claimsOf({ ground: { store } }: Trial, jobId: string): Promise<number> {
  const events = (await readLog(store, jobId)).flatMap((commit) => commit.events);
  return events.filter(({ type }) => type === 'attempt.started').length;
}
