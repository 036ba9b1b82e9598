import pg from 'pg';
import { countStatements } from './harness/meter.js';
import { backlog } from './pawl/backlog.js';
import { claimers } from './pawl/claimers.js';
import { history } from './pawl/history.js';
import { inFlight } from './pawl/in-flight.js';
import { otherJobs } from './pawl/other-jobs.js';
import { pawlSystem } from './pawl/pawl-system.js';
import { schedules } from './pawl/schedules.js';
import { signals } from './pawl/signals.js';
import { peerNamed } from './peers/peer.js';
import { rawMeasures } from './raw/raw-measures.js';
import { rawStarter } from './raw/raw-pick-up.js';
import { Recorder, type System } from './workloads/system.js';
import { sixWorkloads } from './workloads/six.js';
import type { Measures, Workload } from './workloads/workload.js';

/** Who is measured: Pawl on a store, that store's database by itself, or a peer. */
export type SubjectId = string;

export const pawlOn = (store: string): SubjectId => `pawl ${store}`;
export const rawOn = (store: string): SubjectId => `raw ${store}`;

export const hasRaw = (store: string, { alone }: Workload): boolean => !alone && store !== 'memory';

/** What a subject can be asked to do, in the process that does it. */
export async function measuresOf(subject: SubjectId): Promise<Measures> {
  if (subject.startsWith('peer ')) {
    const { open } = await peerNamed(subject.slice(5));
    return sixWorkloads(open, subject);
  }
  countStatements(pg.Client);
  if (subject === 'raw sqlite' || subject === 'raw postgres') {
    return rawMeasures(subject === 'raw sqlite' ? 'sqlite' : 'postgres');
  }
  return {
    ...sixWorkloads(pawlSystem, subject),
    backlog,
    claimers,
    'in-flight': inFlight,
    history,
    signals,
    schedules,
    ...otherJobs,
  };
}

/** The side of a subject that only starts jobs, in a process of its own. */
export async function starterOf(subject: SubjectId, url: string): Promise<Pick<System, 'start' | 'close'>> {
  if (subject.startsWith('raw ')) return rawStarter(url);
  const open = subject.startsWith('peer ') ? (await peerNamed(subject.slice(5))).open : pawlSystem;
  return open(url, new Recorder(), 'latency');
}
