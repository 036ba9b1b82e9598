/** One measurement, or the starting side of one, in a process of its own: what it is told is its first argument. */
import { measuresOf, starterOf, type SubjectId } from '../subjects.js';
import type { Figures, Ground, WorkloadId } from '../workloads/workload.js';
import { pause } from './pause.js';
import type { Starts } from './start-elsewhere.js';

export type Assignment = Ground & {
  readonly role: 'measure';
  readonly subject: SubjectId;
  readonly workload: WorkloadId;
};

/** `reason`: why there is nothing. */
export type Answer = { readonly figures: readonly Figures[] } | { readonly reason: string };

type Told = Assignment | (Starts & { readonly role: 'starter' });

/** Between two starts: long enough for everything to have come to rest. While warming up, for the slowest to keep pace. */
const PAUSE_MS = 15;
const SHORT_PAUSE_MS = 3;

async function measure(told: Assignment): Promise<Answer> {
  const run = (await measuresOf(told.subject))[told.workload];
  if (run === undefined) return { reason: 'does not do this' };
  const found = await run(told);
  const figures = Array.isArray(found) ? found : [found as Figures];
  for (const [name, value] of figures.flatMap((one) => Object.entries(one))) {
    if (!Number.isFinite(value)) return { reason: `found nothing to take ${name} of` };
  }
  return { figures };
}

/** How many it has started. */
async function startOnly({ subject, url, count, warmUpMs = 0 }: Starts): Promise<number> {
  const starter = await starterOf(subject, url);
  const startOne = async (pauseMs: number): Promise<void> => {
    await starter.start('noop', `${process.hrtime.bigint()}`);
    await pause(pauseMs);
  };
  const until = performance.now() + warmUpMs;
  let warm = 0;
  for (; performance.now() < until; warm++) await startOne(SHORT_PAUSE_MS);
  await pause(warmUpMs / 10);
  for (let n = 0; n < count; n++) await startOne(PAUSE_MS);
  await starter.close();
  return warm + count;
}

// Whoever has begun this is gone, and so is its database.
process.once('disconnect', () => process.exit(1));

const send = (message: Answer | number) =>
  new Promise((resolve) => {
    process.send?.(message, resolve);
  });

const told = JSON.parse(process.argv[2] ?? '{}') as Told;
if (told.role === 'measure') {
  const answer = await measure(told).catch((error: unknown) => ({
    reason: String(error instanceof Error ? error.message : error).split('\n')[0] ?? '',
  }));
  await send(answer);
} else {
  await send(await startOnly(told));
}
// Whatever a system has left open must not hold up the next.
process.exit(0);
