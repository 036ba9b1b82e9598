import { checkChildren, checkEvidence } from '../../src/sim/check/at-end.js';
import type { Hits } from '../../src/sim/hits.js';
import type { Verdict } from '../../src/sim/verdict.js';
import { checkAcknowledged } from './check-acknowledged.js';
import { checkLate } from './check-late.js';
import { checkOutside, type OutsideCounts } from './check-outside.js';
import { checkWhole } from './check-whole.js';
import type { Ground } from './ground.js';
import type { Acknowledged } from './load.js';
import type { Moment } from './outside.js';
import { readJobs } from './read-jobs.js';

export type Found = { readonly jobs: number; readonly outside: OutsideCounts };

/** Everything that must hold once all is at rest, by the logs, the store, the clients and the world outside. */
export async function checkAll({
  ground,
  acknowledged,
  ends,
  hits,
  verdict,
}: {
  ground: Ground;
  acknowledged: Acknowledged;
  ends: readonly Moment[];
  hits: Hits;
  verdict: Verdict;
}): Promise<Found> {
  const { store, outside } = ground;
  const damage = await ground.findDamage();
  verdict.expect(damage === null, 3, () => `the file is damaged: ${damage}`);
  const jobs = await readJobs(store, { hits, verdict });
  await checkEvidence({ store, verdict });
  checkChildren({ watch: jobs, verdict });
  await checkWhole({ store, jobs, verdict });
  await checkAcknowledged(acknowledged, { store, jobs, verdict });
  await checkLate({ effects: jobs.effects, ends, store, verdict });
  return { jobs: jobs.jobs.size, outside: checkOutside(jobs.effects, outside, verdict) };
}
