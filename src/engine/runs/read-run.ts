import {
  runSnapshot,
  runSummary,
  settledRun,
  utc,
  type RunSnapshot,
  type RunSummary,
} from '../../contracts/index.js';
import { changesOf, type Job } from '../../kernel/index.js';
import type { Engine } from '../engine.js';
import { readLog } from '../read-log.js';
import { withFinding } from './run-finding.js';

/** Where the states of runs are kept that are tracked; null: nowhere that is known here. */
export type Tracked = { find(runId: string): Promise<RunSnapshot | null> } | null;

/**
 * A run as it stands, whoever asks: what its tracker has told, which knows of hosts and of what failed on them; of one that nobody
 * tracks, what the log of its job amounts to.
 */
export async function readRun(engine: Engine, tracked: Tracked, job: Job): Promise<RunSnapshot> {
  const told = await toldOf(tracked, job);
  if (told !== null) return settledRun(told, job);
  // The log may have gone on since the job was read: both are of one moment if the job is its fold.
  const changes = changesOf(await readLog(engine.store, job.spec.jobId));
  const latest = changes.at(-1)?.after ?? job;
  return withFinding(engine, latest, runSnapshot(latest, changes));
}

/** The same without the steps, and without reading a log for them. */
export async function summarizeRun(engine: Engine, tracked: Tracked, job: Job): Promise<RunSummary> {
  const told = await toldOf(tracked, job);
  if (told !== null) return runSummary(settledRun(told, job));
  return runSummary(await withFinding(engine, job, runSnapshot(job, [])));
}

/**
 * A job stays for at least a minute after its end. So what was last told of a run longer than that before its job was created is of
 * another, which had the same id and was purged.
 */
const STAYS_MS = 60_000;

/** What a tracker has told of a job's run, as it is kept; null: nothing. */
export async function toldOf(tracked: Tracked, job: Job): Promise<RunSnapshot | null> {
  const told = (await tracked?.find(job.spec.jobId)) ?? null;
  return told !== null && toSeconds(told.updated_at) >= toSeconds(utc(job.createdAt - STAYS_MS))
    ? told
    : null;
}

/** Times of day are texts in the order of time, but for parts of a second, which are left out where there are none. */
function toSeconds(at: string): string {
  return at.slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
}
