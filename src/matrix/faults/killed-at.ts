import type { Strike } from '../fault.js';
import { Missed, type Trial } from '../trial.js';

/** A worker is killed at a point of its work, without a chance to do anything; another takes over. */
export async function killedAt(trial: Trial, at: string): Promise<Strike> {
  const victim = await trial.work({ at });
  await trial.order();
  await trial.struck(victim, at);
  await trial.until('the worker is gone', () => victim.process.isGone);
  if (victim.process.signalCode !== 'SIGKILL')
    throw new Missed(`the worker ended by itself: ${victim.process.said}`);
  await trial.work();
  await trial.finish();
  return { how: `SIGKILL ${at.replace(/ \d+$/, '')}` };
}
