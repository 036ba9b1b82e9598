import type { Fault } from '../fault.js';
import { LEASE_MS } from '../trial.js';

const LEASES = 3;

/** A job waits for a signal while the worker that had run it is killed, and others look for work for several leases. */
export const blocked: Fault = {
  id: 'F11',
  variants: 1,
  async strike(trial) {
    const first = await trial.work({ options: { lease: LEASE_MS } });
    const job = await trial.order({ withheld: true });
    await trial.waiting(job);
    const { rev } = await job.handle.status();
    await first.process.kill();
    const second = await trial.work({ options: { lease: LEASE_MS } });
    await trial.pass(LEASES * LEASE_MS);
    await second.process.kill();
    await trial.work();
    await trial.pass(LEASES * LEASE_MS);
    const { rev: after, status } = await job.handle.status();
    const problems: ['G5' | 'G6', string][] = [];
    if (status !== 'waiting') problems.push(['G5', `a waiting job became ${status}`]);
    if (after !== rev) problems.push(['G6', `a waiting job was written ${after - rev} times`]);
    job.withheld = false;
    await trial.finish();
    return {
      how: `two workers killed, ${2 * LEASES} leases; untouched at revision ${rev}; then signalled`,
      problems,
    };
  },
};
