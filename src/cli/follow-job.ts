import { stepsOf, type StepSnapshot } from '../contracts/index.js';
import { awaitEnd } from '../engine/await-end.js';
import type { Engine } from '../engine/engine.js';
import { readLog, type NamedCommit } from '../engine/read-log.js';
import { readTime } from '../engine/schedules/timing.js';
import { explain } from '../engine/why.js';
import { PawlError } from '../errors.js';
import { changesOf, type Job } from '../kernel/index.js';
import { oneLine } from './console.js';
import type { Shell } from './shell.js';

/** How often the log is looked at: often enough to seem live, seldom enough for the store not to notice. */
const LOOK_MS = 200;
/** A job that says nothing new for this long is asked what it waits for. */
const QUIET_LOOKS = 5;

/** The job once it has ended, with its steps on standard error as they come. Throws RESULT_TIMEOUT. */
export async function followJob(
  { console }: Pick<Shell, 'console'>,
  engine: Engine,
  { jobId, timeoutMs, shows }: { jobId: string; timeoutMs: number | null; shows: boolean },
): Promise<Job> {
  if (!shows) return awaitEnd(engine, jobId, { timeoutMs });
  const say = (line: string): void => console.err(`${oneLine(line)}\n`);
  say(`Job ${jobId} is started.`);
  const until = timeoutMs === null ? Number.POSITIVE_INFINITY : engine.clock.elapsed() + timeoutMs;
  const seen = new Map<string, string>();
  let commits: readonly NamedCommit[] = [];
  let reason = '';
  for (let quiet = 0; ; quiet++) {
    const leftMs = until - engine.clock.elapsed();
    const job = await endWithin(engine, jobId, Math.max(0, Math.min(LOOK_MS, leftMs)));
    const news = await readLog(engine.store, jobId, (commits.at(-1)?.rev ?? 0) + 1);
    if (news.length > 0) {
      quiet = 0;
      commits = [...commits, ...news];
      const { found } = await engine.store.load(jobId);
      if (found) for (const line of stepNews(stepsOf(found.job, changesOf(commits)), seen)) say(line);
    }
    if (job) {
      say(`Job ${jobId} has ${ENDS[job.status] ?? job.status}.`);
      return job;
    }
    if (quiet === QUIET_LOOKS) {
      const { sentence } = await explain(engine, jobId);
      if (sentence !== reason) say(`  ${(reason = sentence)}`);
    }
    if (leftMs <= 0) return awaitEnd(engine, jobId, { timeoutMs: 0 });
  }
}

const ENDS: Readonly<Record<string, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'been cancelled',
};

/** What is new about the steps, a line for each. */
export function stepNews(steps: readonly StepSnapshot[], seen: Map<string, string>): string[] {
  return steps.flatMap(({ name, status, started_at, finished_at, message }) => {
    const state = `${status} ${message ?? ''}`;
    if (seen.get(name) === state) return [];
    seen.set(name, state);
    const about = message === null ? '' : ` (${message})`;
    if (status === 'running') return [`  … ${name}${about}`];
    return [`  ${status === 'success' ? '✓' : '✗'} ${name}${tookOf(started_at, finished_at)}${about}`];
  });
}

function tookOf(startedAt: string | null, finishedAt: string | null): string {
  if (startedAt === null || finishedAt === null) return '';
  const ms = readTime('finished', finishedAt) - readTime('started', startedAt);
  return ms < 1_000 ? `  ${ms} ms` : `  ${(ms / 1_000).toFixed(1)} s`;
}

/** Null: it has not ended yet. */
async function endWithin(engine: Engine, jobId: string, ms: number): Promise<Job | null> {
  try {
    return await awaitEnd(engine, jobId, { timeoutMs: ms });
  } catch (error) {
    if (error instanceof PawlError && error.code === 'RESULT_TIMEOUT') return null;
    throw error;
  }
}
