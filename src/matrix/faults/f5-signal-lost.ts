import type { Fault } from '../fault.js';
import { Missed } from '../trial.js';
import { signalTo } from '../trial-job.js';

/** A sender dies on its way: before the signal is written down, or after, when it cannot know that it was. */
const VARIANTS = [
  { at: 'before putMessage late 1', isKept: false },
  { at: 'after putMessage late 1', isKept: true },
] as const;

export const signalLost: Fault = {
  id: 'F5',
  variants: VARIANTS.length,
  async strike(trial) {
    const { at, isKept } = trial.pick(VARIANTS);
    await trial.work();
    const job = await trial.order({ withheld: true });
    await trial.waiting(job);
    const { rev } = await job.handle.status();
    const sender = await trial.send(job, { at });
    await trial.until('the sender is gone', () => sender.process.isGone);
    if (sender.process.signalCode !== 'SIGKILL')
      throw new Missed(`the sender ended by itself: ${sender.process.said}`);
    const problems: ['G4' | 'G5', string][] = [];
    if (!isKept) {
      await trial.pass(200);
      const waiting = await job.handle.status();
      if (waiting.status !== 'waiting' || waiting.rev !== rev) {
        problems.push(['G5', `nobody had signalled, and the job was ${waiting.status}`]);
      }
    }
    const answer = await signalTo(job, 'late');
    if ((answer === 'repeated') !== isKept) problems.push(['G4', `sent again, the signal was ${answer}`]);
    await trial.finish();
    return { how: `sender killed ${at.replace(/ \d+$/, '')}; sent again: ${answer}`, problems };
  },
};
