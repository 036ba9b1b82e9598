import { parseStoreUrl } from '../../client/open-store.js';
import type { Fault } from '../fault.js';
import { LEASE_MS, Missed, type Trial } from '../trial.js';
import type { TrialJob } from '../trial-job.js';
import { sightings } from '../witness.js';

/**
 * The server is stopped and started again under work, or a process keeps everybody from writing to the file and is
 * killed: with a job that waits, one within a tool, and one that is started while nobody hears it.
 */
export const storeUnavailable: Fault = {
  id: 'F9',
  alone: true,
  variants: 1,
  instead: {
    sqlite:
      'a file has no server: another process holds its lock in an open transaction, and is killed (SIGKILL)',
  },
  impossible: ({ kind, control }) =>
    kind === 'sqlite' || control !== null
      ? null
      : 'this server is not ours to stop: give --stop-command and --start-command',
  async strike(trial) {
    const options = { lease: LEASE_MS } as const;
    const before = await trial.work({ options });
    const blocked = await trial.order({ withheld: true });
    await trial.waiting(blocked);
    await before.process.kill();
    const first = await trial.work({ options, hold: 'charge' });
    const job = await trial.order();
    await trial.entered(job, 'charge');
    const back = await takeAway(trial);
    let entered = 0;
    let blindly: Promise<string> | null = null;
    try {
      const sighted = seen(trial.jobs);
      first.release();
      blindly = trial.orderBlindly().then(
        () => 'acknowledged',
        () => 'refused',
      );
      await trial.rest(3 * LEASE_MS);
      await expectAway(trial);
      entered = seen(trial.jobs) - sighted;
    } finally {
      // Whatever happens here, nobody is left without a server.
      await back();
    }
    blocked.withheld = false;
    const answer = await blindly;
    await trial.finish();
    return {
      how: `away for three leases: ${entered} bodies entered meanwhile; a start then was ${answer}; all went on by themselves`,
      problems:
        entered === 0 ? [] : [['G1', `${entered} bodies were entered while nothing could be recorded`]],
    };
  },
};

function seen(jobs: readonly TrialJob[]): number {
  return jobs.reduce((sum, { witness }) => sum + sightings(witness).length, 0);
}

/** A file that was let go of in between has proven nothing. */
async function expectAway({ ground }: Trial): Promise<void> {
  if (ground.kind === 'sqlite' && !(await ground.isLocked()))
    throw new Missed('the file did not stay locked');
}

/** Answers with how to bring the store back. */
async function takeAway(trial: Trial): Promise<() => Promise<void>> {
  const { kind, url, control } = trial.ground;
  if (kind === 'sqlite') {
    const locker = await trial.lock(parseStoreUrl(url).path);
    if (!(await trial.ground.isLocked())) throw new Missed(`nobody locked the file: ${locker.process.said}`);
    return () => locker.process.kill();
  }
  await control?.stop();
  return async () => control?.start();
}
